// One instance over a directory or over memory, in this process, asked through its handler; its
// store requests are counted. It can be killed and started again, as after `kill -9`.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "bench/memory_store.hpp"
#include "bench/quiet_env.hpp"
#include "core/cell/instance.hpp"
#include "core/rt/env.hpp"
#include "core/rt/random.hpp"
#include "prod/disk_cache/disk_cache.hpp"
#include "prod/loop.hpp"
#include "prod/metrics/store_metrics.hpp"
#include "prod/open_store.hpp"
#include "prod/thread_compute.hpp"

namespace morula::density {

/// Each start is a process of its own, and all before it are gone: nobody waits for a lease.
class SuccessivePlatform final : public Platform {
 public:
  void next_process() { ++process_; }
  ProcessIdentity self() const override { return {"bench", "bench", process_, 1}; }
  bool provably_gone(const ProcessIdentity& process) const override {
    return process.pid < process_;
  }

 private:
  uint64_t process_ = 1;
};

/// What is told of trouble goes to stderr.
class TroubleTrace final : public Trace {
 public:
  void step(const StepEvent&) override {}
  void log(Severity severity, std::string_view event,
           std::initializer_list<LogField> fields) override;
  void sometimes(std::string_view, bool) override {}
};

class MeasuredCell {
 public:
  /// `directory` empty: the store is in memory. `disk_cache` empty: there is none.
  MeasuredCell(const std::string& directory, const std::string& disk_cache, InstanceConfig config);

  /// Runs `body` while the instance serves; then the instance is killed where it stands. In a
  /// fiber.
  void serve_until_killed(const std::function<void()>& body);

  HttpResponse ask(const HttpRequest& request) { return network_.handler(request); }

  Loop& loop() { return loop_; }
  /// Null when there is none.
  const DiskCache* disk_cache() const { return disk_cache_.get(); }
  const StoreMetrics& counts() const { return counts_; }
  const Instance& instance() const { return *instance_; }
  /// From the start of the instance until it served.
  Duration until_serving() const { return until_serving_; }

  struct Level {
    uint64_t tables = 0;
    uint64_t bytes = 0;
  };
  /// What the manifests name now, by tree and level. In a fiber.
  std::map<std::pair<Tree, uint32_t>, Level> levels();

 private:
  void open_disk_cache();

  Loop loop_;
  TroubleTrace trace_;
  MemoryStore memory_;
  std::unique_ptr<Store> directory_;
  StoreMetrics counts_;
  std::unique_ptr<ObservedStore> store_;
  NoNetwork network_;
  Random random_{1};
  ThreadCompute compute_{loop_, 2};
  SuccessivePlatform platform_;
  std::optional<Env> env_;
  InstanceConfig config_;
  MemoryBudget memory_budget_{MemoryShares{}};
  std::optional<DiskCachePlace> disk_cache_place_;
  std::unique_ptr<DiskCache> disk_cache_;  // opened anew for each instance
  std::unique_ptr<Instance> instance_;
  Duration until_serving_{};
};

}  // namespace morula::density
