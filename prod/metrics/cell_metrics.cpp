#include "prod/metrics/cell_metrics.hpp"

#include <string>

#include "core/base/step.hpp"

namespace morula {

void collect_instance_metrics(const Instance::Figures& figures, MetricFamilies& families) {
  const auto gauge = [&](const char* name, const char* help, uint64_t value) {
    families.push_back(gauge_family(name, help, static_cast<double>(value)));
  };
  const auto counter = [&](const char* name, const char* help, uint64_t value) {
    families.push_back(counter_family(name, help, static_cast<double>(value)));
  };
  const Shard::Figures& sums = figures.shards.sums;
  gauge("morula_shards", "Shards that this instance serves", figures.shards.shards);
  gauge("morula_memtable_bytes", "Rows in memory that are only in the log yet",
        sums.memtable_bytes);
  gauge("morula_tables", "Tables that the served shards' manifests name", sums.tables);
  gauge("morula_tables_unmerged", "Of these, tables of level 0: reads ask each of them",
        sums.unmerged_tables);
  gauge("morula_table_bytes", "Bytes of all these tables in the store", sums.table_bytes);
  gauge("morula_block_cache_bytes", "Blocks of tables in memory", figures.block_cache_bytes);
  counter("morula_block_cache_hits_total", "Blocks that were asked for and in memory",
          figures.block_cache.hits);
  counter("morula_block_cache_loads_total", "Blocks that had to be read from the store",
          figures.block_cache.loads);
  counter("morula_block_cache_evictions_total", "Blocks that made room for others",
          figures.block_cache.evictions);
}

void collect_step_metrics(const LogTrace& trace, MetricFamilies& families) {
  auto steps = family_of(prometheus::MetricType::Counter, "morula_steps_total",
                         "Steps of the ownership protocol that were taken");
#define MORULA_STEP_METRIC(name, what) \
  steps.metric.push_back(              \
      counter_metric(static_cast<double>(trace.count(Step::k##name)), {{"step", #name}}));
  MORULA_STEPS(MORULA_STEP_METRIC)
#undef MORULA_STEP_METRIC
  families.push_back(std::move(steps));
}

}  // namespace morula
