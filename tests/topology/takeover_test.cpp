// Takeover and trim against a live log, a zombie's late requests and other takers.
#include "core/topology/takeover.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "core/log/fence.hpp"
#include "core/rt/random.hpp"
#include "core/topology/trim.hpp"
#include "sim/world/test_world.hpp"
#include "tests/sim/fates.hpp"

namespace morula {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr uint64_t kWindow = 2;
const StreamId kStream{1, 1};

LogConfig log_config() {
  LogConfig config;
  config.window = kWindow;
  return config;
}

/// An incarnation with a log, as far as ownership goes.
struct Owner {
  Owner(const Env& env, std::string name, Scope& scope)
      : id{std::move(name), Ulid::draw(env.clock.wall(), env.random)},
        log(env, log_config(), id, scope),
        takeover(env, {}, log) {}
  IncarnationId id;
  LogWriter log;
  Takeover takeover;
};

/// Runs `body` with two incarnations, of which none owns anything yet.
void with_owners(sim::TestWorld& world,
                 const std::function<void(const Env&, Owner& a, Owner& b)>& body) {
  world.run([&](const Env& env) {
    with_scope(env.domain, [&](Scope& scope) {
      Owner a(env, "a", scope);
      Owner b(env, "b", scope);
      body(env, a, b);
      scope.cancel();
    });
  });
}

void append(LogWriter& log, int records) {
  for (int i = 0; i < records; ++i) ASSERT_TRUE(log.wait_acknowledged(log.append(kStream, "x")));
}

Topology topology(sim::TestWorld& world) {
  return decode_topology(*world.store().peek("topology.json")).value();
}

Manifest manifest(sim::TestWorld& world, const std::string& key) {
  return decode_manifest(*world.store().peek(key)).value();
}

TEST(Takeover, CreatesTheFirstTopologyOnce) {
  sim::TestWorld world;
  with_owners(world, [&](const Env&, Owner& a, Owner& b) {
    const auto first = a.takeover.create_first_topology(1);
    ASSERT_TRUE(first);
    EXPECT_EQ(first->size(), 2u);
    EXPECT_TRUE(b.takeover.create_first_topology(0)->empty());
    EXPECT_EQ(topology(world).shards.size(), 2u);
    EXPECT_EQ(topology(world).shards[0].owner, a.id);
  });
}

TEST(Takeover, ClosesTheVictimsRangeAtTheFenceAndBeginsItsOwnAboveAllItHasSent) {
  sim::TestWorld world;
  with_owners(world, [&](const Env& env, Owner& a, Owner& b) {
    ASSERT_TRUE(a.takeover.create_first_topology(0));
    append(a.log, 5);
    append(b.log, 3);
    const auto fence = fence_log(env, b.id, a.id, LogSeq(0), kWindow, {});
    ASSERT_TRUE(fence);
    EXPECT_GE(*fence, LogSeq(5));
    const auto adopted = b.takeover.run(a.id, *fence);
    ASSERT_TRUE(adopted);
    ASSERT_EQ(adopted->size(), 1u);
    const Manifest next = manifest(world, adopted->front().manifest_key);
    ASSERT_EQ(next.logs.size(), 2u);
    EXPECT_EQ(next.logs[0].incarnation, a.id);
    EXPECT_EQ(next.logs[0].to, *fence);
    EXPECT_EQ(next.logs[1].incarnation, b.id);
    EXPECT_EQ(next.logs[1].from, LogSeq(3));
    const Topology now = topology(world);
    EXPECT_EQ(now.shards[0].owner, b.id);
    EXPECT_EQ(now.shards[0].epoch, Epoch(2));
    EXPECT_EQ(now.shards[0].logs, row_logs(next, b.id));
  });
}

TEST(Takeover, OfTwoTakersOneGetsTheShards) {
  sim::TestWorld world;
  world.run([&](const Env& env) {
    size_t adopted_shards = 0;
    with_scope(env.domain, [&](Scope& scope) {
      Owner a(env, "a", scope);
      ASSERT_TRUE(a.takeover.create_first_topology(2));
      Owner b(env, "b", scope);
      Owner c(env, "c", scope);
      with_scope(env.domain, [&](Scope& takers) {
        for (Owner* taker : {&b, &c}) {
          takers.spawn("taker", [&, taker] {
            const auto fence = fence_log(env, taker->id, a.id, LogSeq(0), kWindow, {});
            ASSERT_TRUE(fence);
            const auto adopted = taker->takeover.run(a.id, *fence);
            ASSERT_TRUE(adopted);
            adopted_shards += adopted->size();
          });
        }
        takers.join();
      });
      scope.cancel();
    });
    EXPECT_EQ(adopted_shards, 4u);
  });
}

TEST(Takeover, IsPublishedAlsoWhenTheAnswerOfItsSwapIsLost) {
  sim::TestWorld world;
  with_owners(world, [&](const Env& env, Owner& a, Owner& b) {
    ASSERT_TRUE(a.takeover.create_first_topology(0));
    const auto fence = fence_log(env, b.id, a.id, LogSeq(0), kWindow, {});
    int swaps = 0;
    world.store().set_fates([&](const sim::StoreRequest& request) {
      const bool swaps_topology =
          request.call == sim::StoreCall::kPut && request.key == "topology.json";
      return swaps_topology && swaps++ == 0 ? sim::answer_lost() : sim::StoreFate{};
    });
    const auto adopted = b.takeover.run(a.id, *fence);
    ASSERT_TRUE(adopted);
    EXPECT_EQ(adopted->size(), 1u);
    EXPECT_EQ(topology(world).version, Version(2));
  });
}

TEST(Takeover, LeavesAShardWhoseManifestWasDeletedAndTakesTheOthers) {
  sim::TestWorld world;
  with_owners(world, [&](const Env& env, Owner& a, Owner& b) {
    const auto first = a.takeover.create_first_topology(1);
    ASSERT_TRUE(first);
    const std::string lost = first->front().manifest_key;
    const std::string content = *world.store().peek(lost);
    world.store().destroy(lost);
    const auto fence = fence_log(env, b.id, a.id, LogSeq(0), kWindow, {});
    const Time began = env.clock.now();
    const auto adopted = b.takeover.run(a.id, *fence);
    ASSERT_TRUE(adopted);
    EXPECT_LT(env.clock.now() - began, Duration(seconds(1)));
    ASSERT_EQ(adopted->size(), 1u);
    EXPECT_EQ(adopted->front().prefix, first->back().prefix);
    EXPECT_EQ(topology(world).shards[0].owner, a.id);
    EXPECT_EQ(topology(world).shards[1].owner, b.id);

    EXPECT_TRUE(b.takeover.run(a.id, *fence)->empty()) << "nothing is left that can be had";
    world.store().plant(lost, content);
    EXPECT_EQ(b.takeover.run(a.id, *fence)->size(), 1u);
  });
}

TEST(Trim, KeepsWhatAnyManifestOfTheTopologyNames) {
  sim::TestWorld world;
  with_owners(world, [&](const Env& env, Owner& a, Owner&) {
    auto first = a.takeover.create_first_topology(0);
    ASSERT_TRUE(first);
    append(a.log, 10);
    LogPin from = std::move(first->front().from);
    from.release();  // nothing of the own view holds it back
    ASSERT_TRUE(Trimmer(env, {}, a.log).run());
    EXPECT_EQ(world.store().keys("log/").size(), 10u) << "the manifest names all from 0";
  });
}

TEST(Trim, KeepsTheLastWindowOfLandedObjectsAndWhatIsPinned) {
  sim::TestWorld world;
  with_owners(world, [&](const Env& env, Owner& a, Owner& b) {
    ASSERT_TRUE(b.takeover.create_first_topology(0));  // a is named nowhere
    append(a.log, 10);
    LogPin pin = a.log.pin(LogSeq(4));
    ASSERT_TRUE(Trimmer(env, {}, a.log).run());
    EXPECT_EQ(world.store().keys("log/").size(), 6u);
    pin.release();
    ASSERT_TRUE(Trimmer(env, {}, a.log).run());
    EXPECT_EQ(world.store().keys("log/").size(), kWindow);
  });
}

}  // namespace
}  // namespace morula
