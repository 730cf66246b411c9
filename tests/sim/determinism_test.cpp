#include <gtest/gtest.h>

#include <set>
#include <string>

#include "core/rt/clock.hpp"
#include "core/rt/store.hpp"
#include "sim/world/world.hpp"

namespace morula::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// Three fibers of two processes that race for keys, one process killed on the way.
struct Race {
  explicit Race(uint64_t seed, uint64_t kill_at_switch = UINT64_MAX) : world(seed) {
    for (const char* name : {"a", "b"}) {
      ProcessOptions options;
      options.name = name;
      world.add(options, [this](const Env& env) { racer(env); });
    }
    if (kill_at_switch != UINT64_MAX) {
      world.at_switch(kill_at_switch, [this] { world.processes()[0].kill(); });
    }
    world.run_for(seconds(30));
  }

  void racer(const Env& env) {
    with_scope(env.domain, [&](Scope& scope) {
      for (int fiber = 0; fiber < 3; ++fiber) {
        scope.spawn("racer", [&env, this] {
          for (int i = 0; i < 5; ++i) {
            env.clock.sleep(milliseconds(env.random.below(20)));
            std::string key = "key-" + std::to_string(env.random.below(10));
            auto put =
                env.store.put(key, make_blob(env.network.address()), Precondition::if_absent(), {});
            if (put) ++won;
            env.trace.step({Step::kPutLog, env.network.address(), key, won, 0});
          }
        });
      }
      scope.join();
    });
    ++ended;
  }

  World world;
  uint64_t won = 0;
  int ended = 0;
};

TEST(Determinism, TheSameSeedGivesTheSameHash) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Race first(seed);
    Race second(seed);
    EXPECT_EQ(first.world.trace().hash().value(), second.world.trace().hash().value());
    EXPECT_EQ(first.ended, 2);
  }
}

TEST(Determinism, DifferentSeedsGiveDifferentHashes) {
  std::set<uint64_t> hashes;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    hashes.insert(Race(seed).world.trace().hash().value());
  }
  EXPECT_EQ(hashes.size(), 100u);
}

TEST(Crash, AProcessCanDieAtEachSuspensionPoint) {
  uint64_t switches = Race(7).world.switches();
  ASSERT_GT(switches, 50u);
  for (uint64_t at = 0; at < switches; ++at) {
    Race race(7, at);
    ASSERT_FALSE(race.world.failure());
    EXPECT_LE(race.ended, 2);
    EXPECT_GE(race.ended, 1);
    // The survivor goes on, and whoever wins a key wins it once.
    EXPECT_LE(race.won, race.world.store().keys().size());
  }
}

}  // namespace
}  // namespace morula::sim
