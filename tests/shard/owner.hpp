// A shard over a real log and store, owned by one incarnation after the other.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "core/log/fence.hpp"
#include "core/rt/random.hpp"
#include "core/shard/replay.hpp"
#include "core/shard/served_shards.hpp"
#include "core/topology/takeover.hpp"
#include "sim/world/test_world.hpp"
#include "tests/lsm/changed_rows_of.hpp"
#include "tests/lsm/scanned_rows.hpp"

namespace morula {

inline constexpr uint64_t kWindow = 2;

struct FakeLease : LeaseView {
  bool held = true;
  bool holds() const override { return held; }
};

inline LogConfig log_config() {
  LogConfig config;
  config.window = kWindow;
  return config;
}

inline Row hot(StreamId id, uint64_t generation, uint64_t change, std::string value = "v") {
  return {Tree::kMeta, row_key::meta(id, Generation(generation), RowKind::kHot),
          ChangeNumber(change), false, std::move(value)};
}

inline Row data(StreamId id, uint64_t generation, uint64_t change, uint64_t end) {
  return {Tree::kData, row_key::data(id, Generation(generation), {end, end}), ChangeNumber(change),
          false, "record " + std::to_string(end)};
}

inline StreamId stream(uint64_t number) {
  return {number * 0x9E3779B97F4A7C15, number};
}

/// An incarnation that serves the one shard of a cell, for as long as its scope is open.
struct Owner {
  Owner(const Env& e, std::string name, Scope& scope, ShardConfig c = {},
        uint64_t memtable_bytes = 64 * kMiB)
      : env(e),
        config(c),
        id{std::move(name), Ulid::draw(env.clock.wall(), env.random)},
        memory(MemoryShares{.memtables = memtable_bytes}),
        log(env, log_config(), id, scope),
        takeover(env, {}, log),
        served(env, log, lease, memory) {}

  void begin() { open(takeover.create_first_topology(0)); }
  void take_over(const IncarnationId& victim) {
    const auto fence = fence_log(env, id, victim, LogSeq(0), kWindow, {});
    ASSERT_TRUE(fence);
    open(takeover.run(victim, *fence));
  }
  void open(Result<std::vector<AdoptedShard>> adopted) {
    ASSERT_TRUE(adopted);
    ASSERT_EQ(adopted->size(), 1u);
    shard = std::make_shared<Shard>(env, config, log, lease, cache, numbers, memtables,
                                    std::move(adopted->front()));
    ASSERT_TRUE(shard->open_tables());
    const std::vector<std::shared_ptr<Shard>> shards{shard};
    ASSERT_TRUE(replay_closed_ranges(env, {}, log, shards));
    served.serve(shard);
  }
  /// Until the manifest names all that is here now.
  void flush(Scope& scope) {
    const Version before = shard->manifest().version;
    if (!flushing) scope.spawn("flusher", [s = shard] { s->run_flusher(); });
    flushing = true;
    shard->request_flush();
    while (shard->manifest().version == before) env.clock.sleep(std::chrono::milliseconds(5));
  }
  std::string value(StreamId id_) {
    const auto row = shard->find_hot(id_);
    return row && *row ? (*row)->value : "absent";
  }

  const Env env;
  const ShardConfig config;
  const IncarnationId id;
  FakeLease lease;
  BlockCache cache{kMiB};
  TableNumbers numbers;
  MemoryBudget memory;
  Memtables memtables{memory};
  LogWriter log;
  Takeover takeover;
  std::shared_ptr<Shard> shard;
  ServedShards served;
  bool flushing = false;
};

/// Runs `body` with owners that outlive the fibers of `scope`, which end with it.
inline void in_world(sim::TestWorld& world,
                     const std::function<void(const Env&, Scope&, std::list<Owner>&)>& body) {
  world.run([&](const Env& env) {
    std::list<Owner> owners;
    with_scope(env.domain, [&](Scope& scope) { body(env, scope, owners); });
  });
}

}  // namespace morula
