#include "core/rt/concurrently.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "core/rt/clock.hpp"
#include "sim/world/test_world.hpp"

namespace morula {
namespace {

TEST(Concurrently, CallsTheBodyOnceForEachAndNoMoreAtATimeThanAllowed) {
  sim::TestWorld world;
  std::vector<int> calls(20, 0);
  size_t running = 0;
  size_t most = 0;
  world.run([&](const Env& env) {
    const Time start = env.clock.now();
    const auto done = for_each_concurrently(calls.size(), 4, [&](size_t i) -> Result<> {
      most = std::max(most, ++running);
      ++calls[i];
      env.clock.sleep(std::chrono::milliseconds(10));
      --running;
      return {};
    });
    EXPECT_TRUE(done);
    EXPECT_EQ(env.clock.now() - start, Duration(std::chrono::milliseconds(50)));
  });
  EXPECT_EQ(calls, std::vector<int>(20, 1));
  EXPECT_EQ(most, 4u);
}

TEST(Concurrently, BeginsNothingMoreAfterAnErrorAndWaitsForWhatHasBegun) {
  sim::TestWorld world;
  int begun = 0;
  int ended = 0;
  world.run([&](const Env& env) {
    const auto done = for_each_concurrently(10, 3, [&](size_t i) -> Result<> {
      ++begun;
      env.clock.sleep(std::chrono::milliseconds(i == 1 ? 1 : 10));
      ++ended;
      if (i == 1) return fail(ErrorCode::kUnavailable, "second");
      return {};
    });
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().message, "second");
  });
  EXPECT_EQ(begun, 3);
  EXPECT_EQ(ended, 3);
}

TEST(Concurrently, ManyAtOnceTakeNoMoreFibersThanThereMayBe) {
  sim::TestWorld world;
  size_t ended = 0;
  size_t most = 0;
  world.run([&](const Env& env) {
    with_scope(env.domain, [&](Scope& scope) {
      for (size_t asker = 0; asker < 2500; ++asker) {
        scope.spawn("asker", [&] {
          EXPECT_TRUE(for_each_concurrently(8, 8, [&](size_t) -> Result<> {
            most = std::max(most, env.domain.live());
            env.clock.sleep(std::chrono::milliseconds(10));
            return {};
          }));
          ++ended;
        });
      }
      scope.join();
    });
  });
  EXPECT_EQ(ended, 2500u);
  EXPECT_GT(most, kFibersForHelp / 2);
  EXPECT_LE(most, kFibersForHelp + 1);
}

TEST(Concurrently, DoesNothingForNothing) {
  EXPECT_TRUE(for_each_concurrently(0, 4, [](size_t) -> Result<> { return {}; }));
}

}  // namespace
}  // namespace morula
