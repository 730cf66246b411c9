// A store that takes no writes for a while: who waits is told, nothing is lost, and all goes on.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/log/log_writer.hpp"
#include "tests/log/log_fixture.hpp"

namespace morula::log_test {
namespace {

/// Until `healed`, each PUT to the log ends so.
void refuse_puts(TestWorld& world, const bool& healed, const StoreFate& fate) {
  world.store().set_fates([&healed, fate](const StoreRequest& request) {
    return put_seq(request) && !healed ? fate : StoreFate{};
  });
}

TEST(LogStall, AFullDiskIsToldAfterAFewSecondsAndNothingIsLost) {
  TestWorld world;
  bool healed = false;
  refuse_puts(world, healed, refused(ErrorCode::kFull));
  with_log(world, {}, [&](const Env& env, LogWriter& log) {
    const Time start = env.clock.now();
    const LogSeq first = log.append(kStream, "first");
    const auto given_up = log.wait_to_answer(first);
    ASSERT_FALSE(given_up);
    EXPECT_EQ(given_up.error().code, ErrorCode::kFull);
    EXPECT_GT(given_up.error().retry_after_ms, 0);
    EXPECT_GE(env.clock.now() - start, Duration(seconds(5)));
    EXPECT_LT(env.clock.now() - start, Duration(milliseconds(5100)));
    EXPECT_TRUE(log.stalled());

    const Time asked = env.clock.now();
    const auto room = log.wait_for_room();
    ASSERT_FALSE(room);
    EXPECT_EQ(room.error().code, ErrorCode::kFull);
    EXPECT_EQ(log.wait_to_answer(first).error().code, ErrorCode::kFull);
    EXPECT_EQ(env.clock.now(), asked) << "refused at once";

    env.clock.sleep_until(start + seconds(30));
    healed = true;
    EXPECT_TRUE(log.wait_acknowledged(first));
    EXPECT_LT(env.clock.now() - start, Duration(seconds(32)));
    EXPECT_FALSE(log.stalled());
    EXPECT_TRUE(log.wait_for_room());
    EXPECT_TRUE(log.wait_to_answer(log.append(kStream, "second")));
  });
  EXPECT_EQ(payloads_at(world, 0), std::vector<std::string>{"first"});
  EXPECT_EQ(payloads_at(world, 1), std::vector<std::string>{"second"});
}

TEST(LogStall, AStoreThatIsAwayIsToldTooAndItsLateLandingCounts) {
  TestWorld world;
  bool healed = false;
  refuse_puts(world, healed, refused(ErrorCode::kUnavailable));
  with_log(world, {}, [&](const Env& env, LogWriter& log) {
    const LogSeq seq = log.append(kStream, "x");
    EXPECT_EQ(log.wait_to_answer(seq).error().code, ErrorCode::kUnavailable);
    healed = true;
    env.clock.sleep(seconds(2));
    EXPECT_TRUE(log.wait_to_answer(seq)) << "it has landed meanwhile";
  });
}

TEST(LogStall, ASlowStoreIsNotStalledAsLongAsTheLogGetsAhead) {
  TestWorld world;
  world.store().set_fates([](const StoreRequest& request) {
    return put_seq(request) ? landing_after(milliseconds(4500)) : StoreFate{};
  });
  with_log(world, {}, [&](const Env& env, LogWriter& log) {
    const Time start = env.clock.now();
    for (int i = 0; i < 5; ++i) {
      log.append(kStream, "x");
      env.clock.sleep(seconds(3));
    }
    const LogSeq last = log.append(kStream, "last");
    EXPECT_TRUE(log.wait_to_answer(last)) << "after " << (env.clock.now() - start).count();
  });
}

TEST(LogStall, AnAttemptThatIsMerelySlowIsWaitedFor) {
  TestWorld world;
  set_put_fates(world, {{{0, 0}, landing_after(seconds(8))}});
  LogConfig config;
  config.retry.attempt_timeout = seconds(20);
  with_log(world, config, [&](const Env& env, LogWriter& log) {
    const Time start = env.clock.now();
    EXPECT_TRUE(log.wait_to_answer(log.append(kStream, "x")));
    EXPECT_GE(env.clock.now() - start, Duration(seconds(8)));
  });
}

TEST(LogStall, WhoWaitsForRoomIsToldToo) {
  TestWorld world;
  bool healed = false;
  refuse_puts(world, healed, refused(ErrorCode::kFull));
  LogConfig config;
  config.window = 1;
  config.queued_bytes_max = 1000;
  with_log(world, config, [&](const Env& env, LogWriter& log) {
    log.append(kStream, "x");
    env.clock.sleep(milliseconds(1));
    for (int i = 0; i < 10; ++i) log.append(kStream, std::string(300, 'x'));
    const Time start = env.clock.now();
    EXPECT_EQ(log.wait_for_room().error().code, ErrorCode::kFull);
    EXPECT_LT(env.clock.now() - start, Duration(milliseconds(5100)));
    healed = true;
    env.clock.sleep(seconds(2));
    EXPECT_TRUE(log.wait_for_room());
  });
}

TEST(LogStall, AFenceEndsItForGood) {
  TestWorld world;
  bool healed = false;
  refuse_puts(world, healed, refused(ErrorCode::kFull));
  with_log(world, {}, [&](const Env& env, LogWriter& log) {
    const LogSeq seq = log.append(kStream, "x");
    EXPECT_EQ(log.wait_to_answer(seq).error().code, ErrorCode::kFull);
    world.store().plant(log_key(0), fence_bytes(0));
    healed = true;
    env.clock.sleep(seconds(2));
    EXPECT_EQ(log.wait_to_answer(seq).error().code, ErrorCode::kFenced);
    EXPECT_EQ(log.wait_for_room().error().code, ErrorCode::kFenced);
  });
}

}  // namespace
}  // namespace morula::log_test
