// One instance of the cell: what `morula serve` runs and what the simulator runs many of.
#pragma once

#include <memory>
#include <string>

#include "core/base/memory_budget.hpp"
#include "core/base/result.hpp"
#include "core/cell/config.hpp"
#include "core/cell/shard_map.hpp"
#include "core/lsm/block_cache.hpp"
#include "core/rt/env.hpp"
#include "core/rt/network.hpp"

namespace morula {

class Instance {
 public:
  /// Draws a fresh incarnation. `env` and everything in it outlive the instance, and so does
  /// `memory`, whose accounts of what an instance holds no other may use meanwhile.
  Instance(const Env& env, InstanceConfig config, MemoryBudget& memory);
  ~Instance();

  enum class Ended : uint8_t {
    kStopped,    // `request_stop` was carried out: everything landed, own fence written
    kFenced,     // somebody fenced this incarnation's log
    kLeaseLost,  // its member document was found expired or replaced
  };
  /// Joins the cell (creates it in an empty bucket), then serves until it is told to stop or must.
  /// After kFenced and kLeaseLost the host may start a new Instance, which is a new incarnation.
  /// Errors: the cell can't be joined or a promise can't be kept, with what to do in the message.
  /// Suspends; throws Cancelled (a crash).
  Result<Ended> run();

  /// Begins a graceful stop; may be called at any time, from outside fibers too.
  void request_stop();
  /// True while every shard that this instance knows has an owner that serves or that it forwards
  /// to.
  bool ready() const;
  /// What it holds at this moment, for metrics.
  struct Figures {
    ShardMap::Figures shards;
    uint64_t block_cache_bytes = 0;
    BlockCache::Counters block_cache;
  };
  Figures figures() const;
  /// "<name>-<ulid>"
  std::string incarnation() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace morula
