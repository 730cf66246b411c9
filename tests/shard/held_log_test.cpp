// Several shards on one log: what each of them holds of it, and of the memory for memtables.
#include "tests/shard/owner.hpp"

namespace morula {
namespace {

/// An incarnation that serves all shards of a cell.
struct OwnerOfMany {
  OwnerOfMany(const Env& e, std::string name, Scope& scope, const ShardConfig& config,
              uint64_t memtable_bytes = 64 * kMiB)
      : owner(e, std::move(name), scope, config, memtable_bytes), scope_(scope) {}

  void begin(uint8_t bits) { open(owner.takeover.create_first_topology(bits)); }
  void take_over(const IncarnationId& victim) {
    const auto fence = fence_log(owner.env, owner.id, victim, LogSeq(0), kWindow, {});
    ASSERT_TRUE(fence);
    open(owner.takeover.run(victim, *fence));
  }
  LogSeq put(Shard& shard, uint64_t change, std::string value = "v") {
    const StreamId id{shard.prefix().first().high, change};
    const LogSeq seq = shard.apply(id, changed_rows_of({hot(id, 1, change, std::move(value))}));
    EXPECT_TRUE(owner.log.wait_acknowledged(seq));
    return seq;
  }

  Owner owner;
  std::vector<std::shared_ptr<Shard>> shards;

 private:
  void open(Result<std::vector<AdoptedShard>> adopted) {
    ASSERT_TRUE(adopted);
    for (AdoptedShard& one : *adopted) {
      shards.push_back(std::make_shared<Shard>(owner.env, owner.config, owner.log, owner.lease,
                                               owner.cache, owner.numbers, owner.memtables,
                                               std::move(one)));
      ASSERT_TRUE(shards.back()->open_tables());
    }
    ASSERT_TRUE(replay_closed_ranges(owner.env, {}, owner.log, shards));
    for (const auto& shard : shards) scope_.spawn("flusher", [shard] { shard->run_flusher(); });
  }

  Scope& scope_;
};

void with_owners(const std::function<void(const Env&, Scope&, std::list<OwnerOfMany>&)>& body) {
  sim::TestWorld world;
  world.run([&](const Env& env) {
    std::list<OwnerOfMany> owners;
    with_scope(env.domain, [&](Scope& scope) { body(env, scope, owners); });
  });
}

TEST(HeldLog, AShardThatNobodyWritesToLetsTheLogGo) {
  with_owners([](const Env& env, Scope& scope, std::list<OwnerOfMany>& owners) {
    ShardConfig config;
    config.held_log_objects_max = 4;
    OwnerOfMany& a = owners.emplace_back(env, "a", scope, config);
    a.begin(2);
    ASSERT_EQ(a.shards.size(), 4u);
    for (uint64_t change = 1; change <= 50; ++change) a.put(*a.shards[1], change);
    env.clock.sleep(std::chrono::seconds(1));
    const LogSeq end = a.owner.log.acknowledged();
    for (const auto& shard : a.shards) {
      EXPECT_LE(end - shard->from(), 2 * config.held_log_objects_max) << shard->prefix().text();
    }
    EXPECT_LE(end - *a.owner.log.lowest_pin(), 2 * config.held_log_objects_max);
    EXPECT_EQ(a.shards[0]->figures().tables, 0u) << "it has nothing to flush";
  });
}

TEST(HeldLog, NorDoesItHoldManyBytes) {
  with_owners([](const Env& env, Scope& scope, std::list<OwnerOfMany>& owners) {
    ShardConfig config;
    config.held_log_bytes_max = 100 * kKiB;
    config.unflushed_bytes_max = 100 * kKiB;
    OwnerOfMany& a = owners.emplace_back(env, "a", scope, config);
    a.begin(1);
    LogSeq last;
    for (uint64_t change = 1; change <= 30; ++change) {
      last = a.put(*a.shards[1], change, std::string(10 * kKiB, 'v'));
    }
    env.clock.sleep(std::chrono::seconds(1));
    for (const auto& shard : a.shards) {
      EXPECT_LE(last + 1 - shard->from(), 12u) << shard->prefix().text();
      EXPECT_GT(shard->manifest().version, Version(1)) << "and says so in its manifest";
    }
  });
}

TEST(HeldLog, ShardsThatAreReplayedTogetherStayWithinTheMemtables) {
  with_owners([](const Env& env, Scope& scope, std::list<OwnerOfMany>& owners) {
    OwnerOfMany& a = owners.emplace_back(env, "a", scope, ShardConfig{});
    a.begin(4);
    ASSERT_EQ(a.shards.size(), 16u);
    for (uint64_t change = 1; change <= 20; ++change) {
      for (const auto& shard : a.shards) a.put(*shard, change, std::string(20 * kKiB, 'v'));
    }
    ASSERT_GT(a.owner.memory.memtables.used(), 6 * kMiB);
    OwnerOfMany& b = owners.emplace_back(env, "b", scope, ShardConfig{}, 2 * kMiB);
    b.take_over(a.owner.id);
    EXPECT_LE(b.owner.memory.memtables.peak(), 2 * kMiB);
    const StreamId id{b.shards[7]->prefix().first().high, 20};
    const auto row = b.shards[7]->find_hot(id);
    ASSERT_TRUE(row && *row);
    EXPECT_EQ((*row)->value, std::string(20 * kKiB, 'v'));
  });
}

}  // namespace
}  // namespace morula
