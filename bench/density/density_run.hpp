// The run: create, rest, touch, restart. Each part returns its figures.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "bench/density/measured_cell.hpp"
#include "bench/density/workload.hpp"
#include "bench/load/latency_histogram.hpp"

namespace morula::density {

struct RunConfig {
  Workload workload;
  std::string directory;   // of the store; empty: in memory
  std::string disk_cache;  // DIR:SIZE; empty: none
  uint64_t clients = 512;  // requests under way at once
  uint64_t touches = 10'000;
  double touch_rate = 0;          // a second; 0: as fast as the answers come
  uint64_t settle_seconds = 120;  // at most, for compactions to end
  InstanceConfig instance;
};

/// What the store was asked for, by purpose.
struct StoreUse {
  std::array<StoreMetrics::Sum, kPurposes> by_purpose{};
  const StoreMetrics::Sum& of(Purpose purpose) const {
    return by_purpose[static_cast<size_t>(purpose)];
  }
  uint64_t bytes_put() const;
};

struct Memory {
  uint64_t resident_bytes = 0;
  uint64_t cache_bytes = 0;  // charged to the block cache
};

struct Outcome {
  double create_seconds = 0;
  double settle_seconds = 0;
  uint64_t bytes_accepted = 0;  // of records, by creating
  StoreUse created;             // until compactions had ended
  Memory idle;                  // before the first stream
  Memory at_rest;
  Memory after_touches;
  std::map<std::pair<Tree, uint32_t>, MeasuredCell::Level> levels;

  uint64_t touches = 0;
  double touch_seconds = 0;
  load::LatencyHistogram touch_latency;  // append and read
  StoreUse touched;

  DiskCache::Figures disk;  // when the touches had ended
  double restart_seconds = 0;
  uint64_t replayed_bytes = 0;  // of log
  uint64_t touches_restarted = 0;
  StoreUse touched_restarted;
};

class DensityRun {
 public:
  explicit DensityRun(const RunConfig& config);
  Outcome run();

 private:
  void create_all();
  void settle();
  void touch_all();
  /// Returns how long it took, in seconds.
  double touch(uint64_t count, uint64_t seed);
  Memory memory() const;
  /// Since the counts were `before`.
  StoreUse use_since(const StoreUse& before) const;
  StoreUse use() const { return use_since({}); }
  /// `clients` fibers that each take the next number until `count` are done.
  void share_out(uint64_t count, const std::function<void(uint64_t n)>& work);
  void ask(const HttpRequest& request);
  void show_progress(const char* what, uint64_t of);

  const RunConfig& config_;
  MeasuredCell cell_;
  Outcome outcome_;
  uint64_t done_ = 0;
  Time shown_{};
};

}  // namespace morula::density
