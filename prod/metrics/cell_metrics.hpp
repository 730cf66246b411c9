// What an instance of the cell holds and does.
#pragma once

#include "core/base/memory_budget.hpp"
#include "core/cell/instance.hpp"
#include "prod/log_trace.hpp"
#include "prod/metrics/metric_families.hpp"

namespace morula {

void collect_instance_metrics(const Instance::Figures& figures, MetricFamilies& families);
/// What each account holds, and who was refused.
void collect_memory_metrics(const MemoryBudget& memory, MetricFamilies& families);
/// How often each step of the protocol was taken since the process began.
void collect_step_metrics(const LogTrace& trace, MetricFamilies& families);

}  // namespace morula
