#include "prod/metrics/metering.hpp"

#include <cstdio>
#include <string>

#include "prod/metrics/cell_metrics.hpp"
#include "prod/metrics/disk_cache_metrics.hpp"
#include "prod/metrics/process_metrics.hpp"
#include "prod/metrics/profile_words.hpp"

namespace morula {

Metering::Metering(const LogTrace& trace, const MemoryBudget& memory,
                   std::function<const Instance*()> instance, bool profile)
    : profile_(profile) {
  page_.add([this](MetricFamilies& families) { store_.collect(families); });
  page_.add([this](MetricFamilies& families) { requests_.collect(families); });
  page_.add([instance = std::move(instance)](MetricFamilies& families) {
    if (const Instance* const now = instance()) collect_instance_metrics(now->figures(), families);
  });
  page_.add([&memory](MetricFamilies& families) { collect_memory_metrics(memory, families); });
  page_.add([&trace](MetricFamilies& families) { collect_step_metrics(trace, families); });
  page_.add(collect_process_metrics);
}

void Metering::show(const DiskCache& cache) {
  page_.add([&cache](MetricFamilies& families) {
    collect_disk_cache_metrics(cache.figures(), families);
  });
}

std::vector<StoreObserver*> Metering::store_observers() {
  std::vector<StoreObserver*> observers = {&store_};
  if (profile_) observers.push_back(&put_profiler_);
  return observers;
}

void Metering::print_profile() {
  if (!profile_) return;
  const std::string log = in_words(log_writes_.figures(), "appends", "log writes");
  const std::string all = in_words(store_writes_.figures(), "objects", "store writes");
  std::printf("\nThe log's writes\n%s\nAll writes to the store\n%s", log.c_str(), all.c_str());
  std::fflush(stdout);
  log_writes_.reset();
  store_writes_.reset();
}

}  // namespace morula
