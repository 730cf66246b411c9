// A shard that was opened ahead of the topology, at whoever is to get it.
#include <gtest/gtest.h>

#include "core/lsm/manifest_succession.hpp"
#include "core/store/conditional.hpp"
#include "core/store/keys.hpp"
#include "tests/shard/owner.hpp"

namespace morula {
namespace {

/// What `giver` has, as `receiver` would open it: its log so far counts.
AdoptedShard as_it_is(Owner& giver, Owner& receiver) {
  const Shard& shard = *giver.shard;
  LogPin from = receiver.log.pin_next();
  Manifest manifest = handed_over(shard.manifest(), shard.prefix(), giver.id,
                                  giver.log.acknowledged(), receiver.id, from.seq());
  return {shard.prefix(),       shard.epoch() + 1, receiver.id,
          shard.manifest_key(), {manifest, {}},    std::move(from)};
}

std::shared_ptr<Shard> opened_ahead(const Env& env, Owner& giver, Owner& receiver) {
  auto shard =
      std::make_shared<Shard>(env, receiver.config, receiver.log, receiver.lease, receiver.cache,
                              receiver.numbers, receiver.memtables, as_it_is(giver, receiver));
  EXPECT_TRUE(shard->open_tables());
  const std::vector<std::shared_ptr<Shard>> shards{shard};
  EXPECT_TRUE(replay_closed_ranges(env, {}, receiver.log, shards));
  return shard;
}

void put(Owner& owner, const Row& row) {
  const StreamId id = row_key::stream_id(row.key);
  EXPECT_TRUE(owner.log.wait_acknowledged(owner.shard->apply(id, changed_rows_of({row}))));
}

std::string value(Shard& shard, StreamId id) {
  const auto row = shard.find_hot(id);
  return row && *row ? (*row)->value : "absent";
}

TEST(Lineage, WhatIsOpenedAheadReadsOnlyWhatHasComeSince) {
  sim::TestWorld world;
  in_world(world, [&](const Env& env, Scope& scope, std::list<Owner>& owners) {
    Owner& a = owners.emplace_back(env, "a", scope);
    Owner& b = owners.emplace_back(env, "b", scope);
    a.begin();
    put(a, hot(stream(1), 1, 1, "first"));
    const auto shard = opened_ahead(env, a, b);
    EXPECT_EQ(value(*shard, stream(1)), "first");
    put(a, hot(stream(2), 1, 1, "second"));
    auto named = as_it_is(a, b);
    const uint64_t before = world.store().sent();
    const auto current = shard->settle(named);
    ASSERT_TRUE(current);
    EXPECT_TRUE(*current);
    const std::vector<std::shared_ptr<Shard>> shards{shard};
    EXPECT_TRUE(replay_closed_ranges(env, {}, b.log, shards));
    EXPECT_EQ(world.store().sent() - before, 1u) << "one log object";
    EXPECT_EQ(value(*shard, stream(1)), "first");
    EXPECT_EQ(value(*shard, stream(2)), "second");
    scope.cancel();
  });
}

// Else, once memory is short, appends are refused for want of a flush that nobody makes.
TEST(Lineage, WhatAHalfHasInheritedIsFlushedWhenMemoryIsShort) {
  sim::TestWorld world;
  in_world(world, [&](const Env& env, Scope& scope, std::list<Owner>& owners) {
    Owner& a = owners.emplace_back(env, "a", scope);
    a.begin();
    put(a, hot(stream(1), 1, 1, "inherited"));
    const uint64_t bytes = a.shard->unflushed_bytes();
    const Prefix half = Prefix{}.child(!Prefix{}.child(false).contains(stream(1)));
    Manifest manifest = narrowed(a.shard->manifest(), half);
    manifest.version = Version(1);
    manifest.writer = a.id;
    const std::string key = keys::manifest(half, Epoch(2), Version(1), Ulid{1, 2});
    auto put_there =
        create_object(env, key, make_blob(encode_manifest(manifest)), Purpose::kOwnership, {});
    ASSERT_TRUE(put_there && put_there->landed);
    Shard shard(
        env, a.config, a.log, a.lease, a.cache, a.numbers, a.memtables,
        {half, Epoch(2), a.id, key, {manifest, put_there->etag}, a.log.pin(a.shard->from())});
    Shard* const parents[] = {a.shard.get()};
    shard.inherit(parents);
    EXPECT_EQ(shard.unflushed_bytes(), bytes);
    with_scope(env.domain, [&](Scope& flusher) {
      flusher.spawn("flusher", [&] { shard.run_flusher(); });
      env.clock.sleep(std::chrono::seconds(1));
      EXPECT_EQ(shard.unflushed_bytes(), bytes) << "nothing has asked for it";
      a.memtables.make_room();
      env.clock.sleep(std::chrono::seconds(1));
      EXPECT_EQ(shard.unflushed_bytes(), 0u);
      EXPECT_FALSE(shard.manifest().tables.empty());
      EXPECT_EQ(value(shard, stream(1)), "inherited");
      shard.retire();
      flusher.join();
    });
    scope.cancel();
  });
}

// The giver may have merged a deleted stream's rows away, tombstone included.
TEST(Lineage, WhatWasOpenedAheadIsOutdatedOnceItsGiverHasFlushed) {
  sim::TestWorld world;
  in_world(world, [&](const Env& env, Scope& scope, std::list<Owner>& owners) {
    Owner& a = owners.emplace_back(env, "a", scope);
    Owner& b = owners.emplace_back(env, "b", scope);
    a.begin();
    put(a, hot(stream(1), 1, 1, "to be deleted"));
    const auto shard = opened_ahead(env, a, b);
    a.flush(scope);
    auto named = as_it_is(a, b);
    const std::string key = named.manifest_key;
    const auto current = shard->settle(named);
    ASSERT_TRUE(current);
    EXPECT_FALSE(*current);
    EXPECT_EQ(named.manifest_key, key) << "still there for a shard that is opened anew";
    scope.cancel();
  });
}

}  // namespace
}  // namespace morula
