#include "bench/load/schedule.hpp"

#include <gtest/gtest.h>

#include <set>

namespace morula::load {
namespace {

TEST(Schedule, CountedTakesEachStreamInTurnAndEnds) {
  Schedule schedule = Schedule::counted(Operation::kCreate, 5, 3);
  std::vector<size_t> streams;
  while (!schedule.ended(7)) {
    EXPECT_EQ(schedule.due(7), 7);
    streams.push_back(schedule.take(7).stream);
  }
  EXPECT_EQ(streams, (std::vector<size_t>{0, 1, 2, 0, 1}));
  EXPECT_EQ(schedule.due(7), kNeverNs);
}

TEST(Schedule, OpenLoopIsDueAtItsRateHoweverLateItIsTaken) {
  Schedule schedule = Schedule::timed(1000, 1'000'001'000, 1000, 0, 1);
  EXPECT_EQ(schedule.due(0), 1000);
  EXPECT_EQ(schedule.take(500'000'000).since_ns, 1000);
  EXPECT_EQ(schedule.take(500'000'000).since_ns, 1'001'000);
  EXPECT_EQ(schedule.behind(500'001'000), 498u);
  EXPECT_TRUE(schedule.ended(1'000'001'000));
}

TEST(Schedule, ClosedLoopDrawsStreamsAndReads) {
  Schedule schedule = Schedule::timed(0, 1'000'000, 0, 0.25, 10);
  std::set<size_t> streams;
  int reads = 0;
  for (int i = 0; i < 10'000; ++i) {
    const Planned planned = schedule.take(5);
    EXPECT_EQ(planned.since_ns, 5);
    streams.insert(planned.stream);
    reads += planned.operation == Operation::kRead ? 1 : 0;
  }
  EXPECT_EQ(streams.size(), 10u);
  EXPECT_NEAR(reads, 2500, 200);
}

}  // namespace
}  // namespace morula::load
