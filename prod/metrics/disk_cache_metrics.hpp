// What the block cache's second tier holds and does.
#pragma once

#include "prod/disk_cache/disk_cache.hpp"
#include "prod/metrics/metric_families.hpp"

namespace morula {

void collect_disk_cache_metrics(const DiskCache::Figures& figures, MetricFamilies& families);

}  // namespace morula
