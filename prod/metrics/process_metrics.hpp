// What this process takes from its machine, by the names that Prometheus' libraries use.
#pragma once

#include "prod/metrics/metric_families.hpp"

namespace morula {

void collect_process_metrics(MetricFamilies& families);

}  // namespace morula
