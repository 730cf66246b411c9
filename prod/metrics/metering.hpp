// Everything that one process counts, and where it shows: GET /metrics, lines at its end, and with
// --profile a report on how it writes.
#pragma once

#include <functional>
#include <vector>

#include "core/cell/config.hpp"
#include "core/cell/instance.hpp"
#include "core/store/observed_store.hpp"
#include "core/store/write_profile.hpp"
#include "prod/disk_cache/disk_cache.hpp"
#include "prod/log_trace.hpp"
#include "prod/metrics/metered_network.hpp"
#include "prod/metrics/metrics_page.hpp"
#include "prod/metrics/request_metrics.hpp"
#include "prod/metrics/store_metrics.hpp"

namespace morula {

class Metering {
 public:
  /// `trace` and `memory` outlive it. `instance`: the one that runs at the moment, or null.
  Metering(const LogTrace& trace, const MemoryBudget& memory,
           std::function<const Instance*()> instance, bool profile);
  Metering(const Metering&) = delete;
  Metering& operator=(const Metering&) = delete;

  const MetricsPage& page() const { return page_; }
  /// Shows the disk cache's figures, too; it outlives this one's page.
  void show(const DiskCache& cache);
  RequestMetrics& requests() { return requests_; }
  const StoreMetrics& store() const { return store_; }
  /// Whom the store's requests are shown to.
  std::vector<StoreObserver*> store_observers();
  /// Null without --profile.
  WriteProfile* log_profile() { return profile_ ? &log_writes_ : nullptr; }
  /// Prints the profiles to stdout, and begins new ones. Nothing without --profile.
  void print_profile();

 private:
  bool profile_;
  StoreMetrics store_;
  RequestMetrics requests_;
  MetricsPage page_;
  WriteProfile log_writes_;
  WriteProfile store_writes_;
  PutProfiler put_profiler_{store_writes_};
};

}  // namespace morula
