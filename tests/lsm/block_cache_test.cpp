#include "core/lsm/block_cache.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/rt/clock.hpp"
#include "core/rt/fiber.hpp"
#include "sim/world/test_world.hpp"

namespace morula {
namespace {

using std::chrono::milliseconds;

Blob block_of(uint64_t n, size_t bytes = 800) {
  return make_blob(std::to_string(n) + std::string(bytes, '.'));
}

Result<Blob> get(BlockCache& cache, uint64_t n, size_t bytes = 800) {
  return cache.get({1, n}, [=] { return block_of(n, bytes); });
}

RC_GTEST_PROP(BlockCache, StaysWithinItsBoundAndGivesTheRightBlocks, ()) {
  const uint64_t capacity = *rc::gen::inRange<uint64_t>(0, 20'000);
  BlockCache cache(capacity);
  const auto asked = *rc::gen::container<std::vector<std::pair<uint64_t, bool>>>(
      rc::gen::pair(rc::gen::inRange<uint64_t>(0, 40), rc::gen::arbitrary<bool>()));
  for (const auto& [n, come_along] : asked) {
    const size_t bytes = n * n * 4;  // some are larger than the cache
    if (come_along) {
      cache.put({1, n}, block_of(n, bytes));
    } else {
      RC_ASSERT(**get(cache, n, bytes) == *block_of(n, bytes));
    }
    RC_ASSERT(cache.bytes() <= capacity);
    const Blob found = cache.find({1, n});
    if (found) RC_ASSERT(*found == *block_of(n, bytes));
  }
}

TEST(BlockCache, ABlockIsLoadedOnceWhileItIsKept) {
  BlockCache cache(100'000);
  for (int round = 0; round < 3; ++round) {
    for (uint64_t n = 0; n < 50; ++n) ASSERT_TRUE(get(cache, n));
  }
  EXPECT_EQ(cache.counters().loads, 50u);
  EXPECT_EQ(cache.counters().hits, 100u);
}

TEST(BlockCache, AScanDoesNotDriveOutWhatIsInUse) {
  BlockCache cache(100'000);
  const auto use_hot = [&] {
    for (uint64_t n = 0; n < 50; ++n) ASSERT_TRUE(get(cache, n));
  };
  for (int round = 0; round < 4; ++round) use_hot();
  for (uint64_t n = 1000; n < 5000; ++n) {
    ASSERT_TRUE(get(cache, n));
    if (n % 50 == 0) use_hot();
  }
  const uint64_t loads = cache.counters().loads;
  EXPECT_EQ(loads, 50u + 4000u);
}

TEST(BlockCache, ABlockThatComesBackIsKeptBetterThanANewOne) {
  BlockCache cache(100'000);
  for (uint64_t n = 0; n < 100; ++n) ASSERT_TRUE(get(cache, n));
  uint64_t gone = 0;
  while (cache.contains({1, gone})) ++gone;
  ASSERT_TRUE(get(cache, gone));
  for (uint64_t n = 1000; n < 1080; ++n) ASSERT_TRUE(get(cache, n));
  EXPECT_TRUE(cache.contains({1, gone}));
}

TEST(BlockCache, AskingTogetherLoadsOnce) {
  BlockCache cache(100'000);
  sim::TestWorld world;
  int loads = 0;
  int answers = 0;
  world.run([&](const Env& env) {
    with_scope(env.domain, [&](Scope& scope) {
      for (int i = 0; i < 10; ++i) {
        scope.spawn("asker", [&] {
          const auto block = cache.get({1, 1}, [&]() -> Result<Blob> {
            ++loads;
            env.clock.sleep(milliseconds(5));
            return block_of(1);
          });
          answers += block && **block == *block_of(1) ? 1 : 0;
        });
      }
      scope.join();
    });
  });
  EXPECT_EQ(loads, 1);
  EXPECT_EQ(answers, 10);
}

TEST(BlockCache, AFailedLoadIsSharedAndNotKept) {
  BlockCache cache(100'000);
  sim::TestWorld world;
  int loads = 0;
  int failures = 0;
  world.run([&](const Env& env) {
    with_scope(env.domain, [&](Scope& scope) {
      for (int i = 0; i < 3; ++i) {
        scope.spawn("asker", [&] {
          const auto block = cache.get({1, 1}, [&]() -> Result<Blob> {
            ++loads;
            env.clock.sleep(milliseconds(5));
            return fail(ErrorCode::kUnavailable, "down");
          });
          failures += block ? 0 : 1;
        });
      }
      scope.join();
    });
    EXPECT_TRUE(get(cache, 1));
  });
  EXPECT_EQ(loads, 1);
  EXPECT_EQ(failures, 3);
}

TEST(BlockCache, WhenTheLoadingFiberIsCancelledAWaitingOneLoads) {
  BlockCache cache(100'000);
  sim::TestWorld world;
  int loads = 0;
  bool answered = false;
  world.run([&](const Env& env) {
    const auto ask = [&] {
      const auto block = cache.get({1, 1}, [&]() -> Result<Blob> {
        ++loads;
        env.clock.sleep(milliseconds(10));
        return block_of(1);
      });
      answered = block.has_value();
    };
    with_scope(env.domain, [&](Scope& second) {
      with_scope(env.domain, [&](Scope& first) {
        first.spawn("loading", ask);
        env.clock.sleep(milliseconds(1));
        second.spawn("waiting", ask);
        env.clock.sleep(milliseconds(1));
      });  // cancels
      EXPECT_FALSE(answered);
      second.join();
    });
  });
  EXPECT_EQ(loads, 2);
  EXPECT_TRUE(answered);
}

}  // namespace
}  // namespace morula
