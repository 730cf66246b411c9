#include "prod/s3/s3_pace.hpp"

#include <gtest/gtest.h>

#include "prod/loop.hpp"

namespace morula {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

S3PaceConfig config(size_t most) {
  S3PaceConfig made;
  made.requests_max = most;
  made.calm = Duration(1);
  return made;
}

TEST(S3Pace, LogGoesBeforeFlushAndFlushLeavesRoom) {
  Loop loop;
  loop.run_fiber("test", [&] {
    S3Pace pace(loop, config(4));
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(pace.acquire(Purpose::kFlush, kNever));
    EXPECT_FALSE(pace.acquire(Purpose::kFlush, loop.now() + milliseconds(5)))
        << "a quarter is for others";
    ASSERT_TRUE(pace.acquire(Purpose::kLog, loop.now() + seconds(1)));
    std::vector<Purpose> order;
    with_scope(loop.domain(), [&](Scope& scope) {
      for (const Purpose purpose : {Purpose::kTrim, Purpose::kFlush, Purpose::kMetaRead,
                                    Purpose::kHeartbeat, Purpose::kLog}) {
        scope.spawn("wait", [&, purpose] {
          ASSERT_TRUE(pace.acquire(purpose, kNever));
          order.push_back(purpose);
          yield();
          pace.release();
        });
      }
      loop.sleep(milliseconds(5));
      EXPECT_TRUE(order.empty());
      for (int i = 0; i < 4; ++i) {
        pace.release();
        loop.sleep(milliseconds(2));
      }
      scope.join();
    });
    EXPECT_EQ(order, (std::vector<Purpose>{Purpose::kLog, Purpose::kHeartbeat, Purpose::kMetaRead,
                                           Purpose::kFlush, Purpose::kTrim}));
  });
}

TEST(S3Pace, CancelledWaiterLeavesItsTurnToOthers) {
  Loop loop;
  loop.run_fiber("test", [&] {
    S3Pace pace(loop, config(1));
    ASSERT_TRUE(pace.acquire(Purpose::kLog, kNever));
    with_scope(loop.domain(), [&](Scope& scope) {
      scope.spawn("wait", [&] { (void)pace.acquire(Purpose::kLog, kNever); });
      loop.sleep(milliseconds(2));
    });
    pace.release();
    ASSERT_TRUE(pace.acquire(Purpose::kLog, loop.now() + seconds(1)));
    pace.release();
  });
}

TEST(S3Pace, FewerGoAtOnceWhileTheStoreComplains) {
  Loop loop;
  loop.run_fiber("test", [&] {
    S3Pace pace(loop, config(64));
    for (int i = 0; i < 100; ++i) {
      pace.complained();
      loop.sleep(Duration(1000));
    }
    EXPECT_EQ(pace.limit(), 4u) << "never none";
    for (int i = 0; i < 64 * 64; ++i) pace.succeeded();
    EXPECT_EQ(pace.limit(), 64u);
    pace.complained();
    EXPECT_EQ(pace.limit(), 44u);
  });
}

TEST(S3Pace, RepeatsComeBackWithTime) {
  Loop loop;
  loop.run_fiber("test", [&] {
    S3PaceConfig few = config(4);
    few.repeats_burst = 2;
    few.repeats_per_second = 100;
    S3Pace pace(loop, few);
    EXPECT_TRUE(pace.take_repeat());
    EXPECT_TRUE(pace.take_repeat());
    EXPECT_FALSE(pace.take_repeat());
    loop.sleep(milliseconds(15));
    EXPECT_TRUE(pace.take_repeat()) << "without a success in between";
  });
}

}  // namespace
}  // namespace morula
