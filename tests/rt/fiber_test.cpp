#include "core/rt/fiber.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/rt/sync.hpp"
#include "tests/rt/manual_clock.hpp"

namespace morula {
namespace {

using std::chrono::milliseconds;

class FiberTest : public testing::Test {
 protected:
  /// Runs ready fibers until none is left.
  void run() { scheduler_.run_ready(); }
  void note(std::string what) { log_.push_back(std::move(what)); }

  Scheduler scheduler_;
  Domain domain_{scheduler_, "test"};
  Scope scope_{domain_};
  ManualClock clock_;
  std::vector<std::string> log_;
};

TEST_F(FiberTest, AChildRunsWhenTheSchedulerPicksItAndNotBefore) {
  scope_.spawn("child", [&] { note("ran"); });
  EXPECT_TRUE(log_.empty());
  EXPECT_EQ(scope_.live(), 1u);
  run();
  EXPECT_EQ(log_, std::vector<std::string>{"ran"});
  EXPECT_EQ(scope_.live(), 0u);
  EXPECT_EQ(scheduler_.live(), 0u);
}

TEST_F(FiberTest, ReadyFibersTakeTurns) {
  for (const char* name : {"a", "b"}) {
    scope_.spawn(name, [&, name] {
      for (int i = 0; i < 2; ++i) {
        note(name + std::to_string(i));
        yield();
      }
    });
  }
  run();
  EXPECT_EQ(log_, (std::vector<std::string>{"a0", "b0", "a1", "b1"}));
}

TEST_F(FiberTest, ASleepEndsAtItsTime) {
  scope_.spawn("sleeper", [&] {
    clock_.sleep(milliseconds(5));
    note("awake");
  });
  run();
  clock_.advance(milliseconds(4));
  run();
  EXPECT_TRUE(log_.empty());
  clock_.advance(milliseconds(1));
  run();
  EXPECT_EQ(log_.size(), 1u);
}

}  // namespace
}  // namespace morula
