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
  counter("morula_writes_delayed_total",
          "Writes that were slowed down by a backlog of flushes or merges", sums.delayed_writes);
  gauge("morula_writes_delayed", "Of these, those that wait now", sums.delayed_now);
  families.push_back(counter_family("morula_writes_delayed_seconds_total",
                                    "How long all of them waited together",
                                    static_cast<double>(sums.delay.count()) / 1e9));
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

void collect_memory_metrics(const MemoryBudget& memory, MetricFamilies& families) {
  auto used = family_of(prometheus::MetricType::Gauge, "morula_memory_bytes",
                        "Memory that is accounted for, by what it is for");
  auto set_aside = family_of(prometheus::MetricType::Gauge, "morula_memory_set_aside_bytes",
                             "Memory that nothing else may take, by what it is for");
  for (const MemoryAccount* account : memory.memory.children()) {
    const MetricLabels labels = {{"account", account->name()}};
    used.metric.push_back(gauge_metric(static_cast<double>(account->used()), labels));
    set_aside.metric.push_back(gauge_metric(static_cast<double>(account->set_aside()), labels));
  }
  auto refusals = family_of(prometheus::MetricType::Counter, "morula_memory_refusals_total",
                            "Requests answered 503 because memory was short, by the answer's code");
  for (size_t i = 0; i < kMemoryRefusals; ++i) {
    const auto kind = static_cast<MemoryRefusal>(i);
    refusals.metric.push_back(counter_metric(static_cast<double>(memory.refusals(kind)),
                                             {{"code", std::string(to_string(kind))}}));
  }
  families.push_back(std::move(used));
  families.push_back(std::move(set_aside));
  families.push_back(std::move(refusals));
  families.push_back(gauge_family("morula_memory_accounted_bytes",
                                  "Memory that is accounted for: the sum over all it is for",
                                  static_cast<double>(memory.memory.used())));
  families.push_back(gauge_family("morula_memory_limit_bytes", "Memory that the process may take",
                                  static_cast<double>(memory.memory.limit())));
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
