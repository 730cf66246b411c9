// What an instance of the cell holds and does.
#pragma once

#include "core/cell/instance.hpp"
#include "prod/log_trace.hpp"
#include "prod/metrics/metric_families.hpp"

namespace morula {

void collect_instance_metrics(const Instance::Figures& figures, MetricFamilies& families);
/// How often each step of the protocol was taken since the process began.
void collect_step_metrics(const LogTrace& trace, MetricFamilies& families);

}  // namespace morula
