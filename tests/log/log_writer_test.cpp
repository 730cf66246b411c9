#include "core/log/log_writer.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "tests/log/log_fixture.hpp"

namespace morula::log_test {
namespace {

using Seqs = std::vector<uint64_t>;
using Texts = std::vector<std::string>;

TEST(LogWriter, AQuietAppendTakesOnePut) {
  TestWorld world;
  with_log(world, {}, [&](const Env& env, LogWriter& log) {
    const Time before = env.clock.now();
    const LogSeq seq = log.append(kStream, "hello");
    EXPECT_EQ(seq, LogSeq(0));
    EXPECT_EQ(log.acknowledged(), LogSeq(0));
    EXPECT_TRUE(log.wait_acknowledged(seq));
    EXPECT_EQ(env.clock.now() - before, milliseconds(4));
    EXPECT_EQ(log.acknowledged(), LogSeq(1));
    EXPECT_TRUE(log.wait_acknowledged(seq)) << "again, at once";
  });
  EXPECT_EQ(world.store().sent(), 1u);
  EXPECT_EQ(payloads_at(world, 0), (Texts{"hello"}));
}

TEST(LogWriter, AnIdleLogSendsNothing) {
  TestWorld world;
  with_log(world, {}, [&](const Env& env, LogWriter& log) {
    env.clock.sleep(std::chrono::minutes(20));
    const LogSeq seq = log.append(kStream, "x");
    EXPECT_TRUE(log.wait_acknowledged(seq));
    env.clock.sleep(std::chrono::minutes(20));
  });
  EXPECT_EQ(world.store().sent(), 1u);
}

TEST(LogWriter, AppendsOfOneMomentShareABatch) {
  TestWorld world;
  with_log(world, {}, [&](const Env&, LogWriter& log) {
    for (const char* text : {"a", "b", "c"}) EXPECT_EQ(log.append(kStream, text), LogSeq(0));
    EXPECT_TRUE(log.wait_acknowledged(LogSeq(0)));
  });
  EXPECT_EQ(payloads_at(world, 0), (Texts{"a", "b", "c"}));
}

TEST(LogWriter, GathersWhileAPutIsInFlightUntilItReturns) {
  TestWorld world;
  set_put_fates(world, {{{0, 0}, landing_after(milliseconds(50))}});
  with_log(world, {}, [&](const Env& env, LogWriter& log) {
    const Time start = env.clock.now();
    log.append(kStream, "first");
    for (int i = 0; i < 10; ++i) {
      env.clock.sleep(milliseconds(4));
      EXPECT_EQ(log.append(kStream, "later"), LogSeq(1));
    }
    EXPECT_TRUE(log.wait_acknowledged(LogSeq(0)));
    EXPECT_EQ(env.clock.now() - start, milliseconds(52));
    EXPECT_TRUE(log.wait_acknowledged(LogSeq(1)));
    EXPECT_EQ(env.clock.now() - start, milliseconds(56)) << "sent when the first one returned";
  });
  EXPECT_EQ(payloads_at(world, 1).size(), 10u);
}

TEST(LogWriter, GathersOnlyWhileAsManyPutsAsItMayAreInFlight) {
  TestWorld world;
  set_put_fates(world, {{{0, 0}, landing_after(milliseconds(50))}});
  LogConfig config;
  config.puts_at_once = 2;
  with_log(world, config, [&](const Env& env, LogWriter& log) {
    log.append(kStream, "first");
    env.clock.sleep(milliseconds(1));
    log.append(kStream, "second");
    env.clock.sleep(milliseconds(1));
    EXPECT_EQ(world.store().sent(), 2u) << "beside the first one";
    EXPECT_EQ(log.append(kStream, "third"), LogSeq(2));
    EXPECT_EQ(log.append(kStream, "fourth"), LogSeq(2));
    env.clock.sleep(milliseconds(1));
    EXPECT_EQ(world.store().sent(), 2u);
    EXPECT_TRUE(log.wait_acknowledged(LogSeq(2)));
  });
  EXPECT_EQ(payloads_at(world, 2), (Texts{"third", "fourth"}));
}

TEST(LogWriter, GathersNoLongerThanTheFlushInterval) {
  TestWorld world;
  set_put_fates(world, {{{0, 0}, landing_after(seconds(3))}});
  with_log(world, {}, [&](const Env& env, LogWriter& log) {
    log.append(kStream, "slow");
    env.clock.sleep(milliseconds(10));
    log.append(kStream, "next");
    env.clock.sleep(milliseconds(99));
    EXPECT_EQ(world.store().sent(), 1u);
    env.clock.sleep(milliseconds(2));
    EXPECT_EQ(world.store().sent(), 2u);
    EXPECT_TRUE(log.wait_acknowledged(LogSeq(1)));
  });
}

TEST(LogWriter, CutsAtItsBoundAndPipelinesFullBatches) {
  TestWorld world;
  LogConfig config;
  config.batch_bytes_max = 1000;
  with_log(world, config, [&](const Env& env, LogWriter& log) {
    const Time start = env.clock.now();
    for (int i = 0; i < 20; ++i) log.append(kStream, std::string(300, 'x'));
    EXPECT_EQ(log.append(kStream, "last"), LogSeq(6));
    EXPECT_TRUE(log.wait_acknowledged(LogSeq(5)));
    EXPECT_EQ(env.clock.now() - start, milliseconds(4)) << "all at once";
    EXPECT_TRUE(log.wait_acknowledged(LogSeq(6)));
  });
  EXPECT_EQ(seqs_of_log(world), (Seqs{0, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(payloads_at(world, 0).size(), 3u) << "cut when it has reached 1000 bytes";
}

TEST(LogWriter, ARecordLargerThanABatchHasOneOfItsOwn) {
  TestWorld world;
  with_log(world, {}, [&](const Env&, LogWriter& log) {
    EXPECT_EQ(log.append(kStream, "small"), LogSeq(0));
    EXPECT_EQ(log.append(kStream, std::string(4 * kMiB, 'x')), LogSeq(1));
    EXPECT_EQ(log.append(kStream, "small"), LogSeq(2));
    EXPECT_TRUE(log.wait_acknowledged(LogSeq(2)));
  });
  EXPECT_EQ(payloads_at(world, 1).size(), 1u);
}

/// A hole at the bottom: W seqs from it are sent and no more, however few are in flight.
bool window_spans_seqs() {
  TestWorld world;
  StoreFate never = request_lost();
  std::map<std::pair<uint64_t, int>, StoreFate> fates;
  for (int attempt = 0; attempt < 10; ++attempt) fates[{0, attempt}] = never;
  set_put_fates(world, fates);
  LogConfig config;
  config.window = 4;
  config.batch_bytes_max = 300;
  Seqs landed_above_the_hole;
  with_log(world, config, [&](const Env& env, LogWriter& log) {
    for (int i = 0; i < 12; ++i) log.append(kStream, std::string(300, 'x'));
    env.clock.sleep(seconds(20));
    EXPECT_EQ(log.acknowledged(), LogSeq(0));
    landed_above_the_hole = seqs_of_log(world);
    EXPECT_TRUE(log.wait_acknowledged(LogSeq(11)));
  });
  return landed_above_the_hole == Seqs{1, 2, 3};
}

TEST(LogWriter, SendsABatchOnlyWhenTheOneAWindowBelowHasLanded) {
  EXPECT_TRUE(window_spans_seqs());
  WithMutant mutant(Mutant::window_by_count);
  EXPECT_FALSE(window_spans_seqs());
}

/// Two batches, of which the second lands long before the first.
bool acknowledges_in_order() {
  TestWorld world;
  set_put_fates(world, {{{0, 0}, landing_after(seconds(2))}});
  bool in_order = true;
  with_log(world, {}, [&](const Env& env, LogWriter& log) {
    const Time start = env.clock.now();
    log.append(kStream, "first");
    log.cut();
    log.append(kStream, "second");
    log.cut();
    EXPECT_TRUE(log.wait_acknowledged(LogSeq(1)));
    in_order = env.clock.now() - start >= seconds(2);
    EXPECT_EQ(log.acknowledged(), LogSeq(in_order ? 2 : 0));
  });
  return in_order;
}

TEST(LogWriter, AcknowledgesABatchOnlyTogetherWithAllBelowIt) {
  EXPECT_TRUE(acknowledges_in_order());
  WithMutant mutant(Mutant::ack_out_of_order);
  EXPECT_FALSE(acknowledges_in_order());
}

TEST(LogWriter, WakesTheWaitersOfABatchWhenItIsAcknowledged) {
  TestWorld world;
  set_put_fates(world, {{{1, 0}, landing_after(seconds(1))}});
  std::map<uint64_t, int> woken;
  with_log(world, {}, [&](const Env& env, LogWriter& log) {
    with_scope(env.domain, [&](Scope& scope) {
      for (int i = 0; i < 6; ++i) {
        const LogSeq seq = log.append(kStream, "x");
        if (i == 2) log.cut();
        scope.spawn("waiter", [&, seq] {
          EXPECT_TRUE(log.wait_acknowledged(seq));
          ++woken[seq.value];
        });
      }
      env.clock.sleep(milliseconds(500));
      EXPECT_EQ(woken, (std::map<uint64_t, int>{{0, 3}}));
      scope.join();
      EXPECT_EQ(woken, (std::map<uint64_t, int>{{0, 3}, {1, 3}}));
    });
  });
}

TEST(LogWriter, WaitsForATokenWhenItsBudgetIsSpent) {
  TestWorld world;
  LogConfig config;
  config.puts_per_second = 10;
  config.puts_burst = 2;
  with_log(world, config, [&](const Env& env, LogWriter& log) {
    const Time start = env.clock.now();
    for (uint64_t i = 0; i < 2; ++i) {
      EXPECT_TRUE(log.wait_acknowledged(log.append(kStream, "x")));
    }
    EXPECT_EQ(env.clock.now() - start, milliseconds(8)) << "the burst";
    EXPECT_TRUE(log.wait_acknowledged(log.append(kStream, "x")));
    EXPECT_EQ(env.clock.now() - start, milliseconds(104)) << "the third token";
  });
}

TEST(LogWriter, WhatIsCutNowDoesNotWaitForTheBudget) {
  TestWorld world;
  LogConfig config;
  config.puts_per_second = 1;
  config.puts_burst = 1;
  with_log(world, config, [&](const Env& env, LogWriter& log) {
    EXPECT_TRUE(log.wait_acknowledged(log.append(kStream, "takes the token")));
    const Time start = env.clock.now();
    const LogSeq hurried = log.append(kStream, "x");
    EXPECT_EQ(log.cut_now(), hurried + 1);
    EXPECT_TRUE(log.wait_acknowledged(hurried));
    EXPECT_EQ(env.clock.now() - start, milliseconds(4));
    EXPECT_TRUE(log.wait_acknowledged(log.append(kStream, "waits for the next token")));
    EXPECT_GE(env.clock.now() - start, milliseconds(900));
  });
}

TEST(LogWriter, FullBatchesDoNotDrawOnTheBudget) {
  TestWorld world;
  LogConfig config;
  config.puts_per_second = 1;
  config.puts_burst = 1;
  with_log(world, config, [&](const Env& env, LogWriter& log) {
    const Time start = env.clock.now();
    for (int i = 0; i < 6; ++i) log.append(kStream, std::string(kMiB, 'x'));
    EXPECT_TRUE(log.wait_acknowledged(LogSeq(5)));
    EXPECT_EQ(env.clock.now() - start, milliseconds(4));
    EXPECT_TRUE(log.wait_acknowledged(log.append(kStream, "small")));
    EXPECT_EQ(env.clock.now() - start, milliseconds(8)) << "the token was still there";
  });
}

TEST(LogWriter, ManyAppendersUnderABudgetShareFewPuts) {
  TestWorld world;
  LogConfig config;
  config.puts_per_second = 10;
  with_log(world, config, [&](const Env& env, LogWriter& log) {
    with_scope(env.domain, [&](Scope& scope) {
      for (int i = 0; i < 50; ++i) {
        scope.spawn("appender", [&, i] {
          env.clock.sleep(milliseconds(i));
          for (int n = 0; n < 100; ++n) {
            EXPECT_TRUE(log.wait_acknowledged(log.append(kStream, "x")));
          }
        });
      }
      scope.join();
    });
    const auto seconds_taken =
        std::chrono::duration_cast<seconds>(world.world().now().time_since_epoch()).count();
    EXPECT_LE(world.store().sent(), 10u + 10u * static_cast<uint64_t>(seconds_taken + 1));
    EXPECT_LE(world.store().sent(), 150u) << "of 5000 appends";
  });
}

TEST(LogWriter, HoldsAppendersBackWhileItsQueueIsFull) {
  TestWorld world;
  LogConfig config;
  config.window = 1;
  config.batch_bytes_max = 1000;
  config.queued_bytes_max = 3000;
  set_put_fates(world, {{{0, 0}, landing_after(seconds(1))}});
  with_log(world, config, [&](const Env& env, LogWriter& log) {
    const Time start = env.clock.now();
    for (int i = 0; i < 3; ++i) log.append(kStream, std::string(1000, 'x'));
    EXPECT_FALSE(world.store().sent() > 0) << "nothing was sent yet";
    EXPECT_TRUE(log.wait_for_room()) << "one of three is sent at once";
    EXPECT_EQ(env.clock.now(), start);
    log.append(kStream, std::string(1000, 'x'));
    EXPECT_TRUE(log.wait_for_room());
    EXPECT_EQ(env.clock.now() - start, milliseconds(1002)) << "when the first PUT has returned";
  });
}

TEST(LogWriter, CarriesTheHighestWallTimeThatItHasSeen) {
  TestWorld world;
  with_log(world, {}, [&](const Env& env, LogWriter& log) {
    const WallTime wall = env.clock.wall();
    EXPECT_TRUE(log.wait_acknowledged(log.append(kStream, "x")));
    EXPECT_GE(log.wall_floor(), wall);
    log.raise_wall_floor(WallTime{wall.ms + 100'000});
    log.raise_wall_floor(WallTime{wall.ms - 100'000});
    EXPECT_EQ(log.wall_floor().ms, wall.ms + 100'000);
    EXPECT_TRUE(log.wait_acknowledged(log.append(kStream, "x")));
    world.process().clock().step_wall(-1'000'000);
    EXPECT_TRUE(log.wait_acknowledged(log.append(kStream, "x")));
    for (const uint64_t seq : {1, 2}) {
      const auto floor = decode_log_object(*world.store().peek(log_key(seq)))->wall_floor;
      EXPECT_EQ(floor.ms, wall.ms + 100'000);
    }
  });
}

TEST(LogWriter, CutGivesTheSeqAboveAllRecordsSoFar) {
  TestWorld world;
  with_log(world, {}, [&](const Env&, LogWriter& log) {
    EXPECT_EQ(log.cut(), LogSeq(0));
    EXPECT_EQ(log.append(kStream, "x"), LogSeq(0));
    EXPECT_EQ(log.cut(), LogSeq(1));
    EXPECT_EQ(log.cut(), LogSeq(1));
    EXPECT_EQ(log.append(kStream, "y"), LogSeq(1));
    EXPECT_TRUE(log.wait_acknowledged(LogSeq(1)));
    EXPECT_EQ(log.cut(), LogSeq(2));
  });
}

TEST(LogWriter, RemembersPinsUntilTheyAreReleased) {
  TestWorld world;
  with_log(world, {}, [&](const Env&, LogWriter& log) {
    EXPECT_EQ(log.lowest_pin(), std::nullopt);
    log.append(kStream, "x");
    LogPin next = log.pin_next();
    EXPECT_EQ(next.seq(), LogSeq(1));
    EXPECT_EQ(log.lowest_pin(), LogSeq(1));
    EXPECT_EQ(log.append(kStream, "y"), LogSeq(1)) << "at the pin or above";
    {
      const LogPin low = log.pin(LogSeq(0));
      const LogPin again = log.pin(LogSeq(0));
      EXPECT_EQ(log.lowest_pin(), LogSeq(0));
    }
    EXPECT_EQ(log.lowest_pin(), LogSeq(1));
    LogPin moved = std::move(next);
    EXPECT_EQ(log.lowest_pin(), LogSeq(1));
    moved = log.pin(LogSeq(7));
    EXPECT_EQ(log.lowest_pin(), LogSeq(7));
    moved.release();
    EXPECT_EQ(log.lowest_pin(), std::nullopt);
    EXPECT_TRUE(log.wait_acknowledged(LogSeq(1)));
  });
}

TEST(LogWriter, ACrashInTheMiddleLeavesWhatWasSent) {
  TestWorld world;
  sim::Process& owner = world.add("owner");
  owner.spawn("owner", [](const Env& env) {
    run_log(env, {}, [](LogWriter& log) {
      log.append(kStream, "sent");
      log.cut();
      log.append(kStream, "sent too");
      log.cut();
      (void)log.wait_acknowledged(LogSeq(1));
    });
  });
  world.pass(milliseconds(1));
  owner.kill();
  world.pass(seconds(1));
  EXPECT_EQ(seqs_of_log(world), (Seqs{0, 1}));
}

}  // namespace
}  // namespace morula::log_test
