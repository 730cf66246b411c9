// What a log writer makes of the store's answers: lost ones, refusals, foreign content (R1, R9).
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/log/log_writer.hpp"
#include "tests/log/log_fixture.hpp"

namespace morula::log_test {
namespace {

using Seqs = std::vector<uint64_t>;
using Texts = std::vector<std::string>;

TEST(LogOutcome, AnAnswerThatWasLostIsSettledByReadingBack) {
  TestWorld world;
  set_put_fates(world, {{{0, 0}, answer_lost()}});
  with_log(world, {}, [&](const Env&, LogWriter& log) {
    EXPECT_TRUE(log.wait_acknowledged(log.append(kStream, "x")));
    EXPECT_FALSE(log.fenced());
  });
  EXPECT_EQ(payloads_at(world, 0), (Texts{"x"}));
  EXPECT_EQ(world.store().sent(StoreCall::kPut), 2u);
}

TEST(LogOutcome, ARequestThatLandsAfterItsRepeatDoesNoHarm) {
  TestWorld world;
  set_put_fates(world, {{{0, 0}, landing_after(seconds(8))}, {{0, 1}, request_lost()}});
  with_log(world, {}, [&](const Env& env, LogWriter& log) {
    EXPECT_TRUE(log.wait_acknowledged(log.append(kStream, "x")));
    env.clock.sleep(seconds(20));
    EXPECT_TRUE(log.wait_acknowledged(log.append(kStream, "y")));
  });
  EXPECT_EQ(seqs_of_log(world), (Seqs{0, 1}));
}

TEST(LogOutcome, ForeignContentAtAnOwnSeqFencesForGood) {
  TestWorld world;
  world.store().plant(log_key(1), fence_bytes(1));
  uint64_t sent_when_fenced = 0;
  with_log(world, {}, [&](const Env& env, LogWriter& log) {
    EXPECT_TRUE(log.wait_acknowledged(log.append(kStream, "below")));
    const LogSeq at = log.append(kStream, "at");
    log.cut();
    const LogSeq beyond = log.append(kStream, "beyond");
    with_scope(env.domain, [&](Scope& scope) {
      for (const LogSeq seq : {at, beyond}) {
        scope.spawn("waiter", [&log, seq] {
          EXPECT_EQ(log.wait_acknowledged(seq).error().code, ErrorCode::kFenced);
        });
      }
      log.fenced_event().wait();
      scope.join();
    });
    sent_when_fenced = world.store().sent();
    EXPECT_TRUE(log.fenced());
    EXPECT_EQ(log.acknowledged(), LogSeq(1));
    EXPECT_TRUE(log.wait_acknowledged(LogSeq(0))) << "what was acknowledged stays so";
    const LogSeq late = log.append(kStream, "late");
    EXPECT_EQ(log.wait_acknowledged(late).error().code, ErrorCode::kFenced);
    EXPECT_EQ(log.wait_for_room().error().code, ErrorCode::kFenced);
    EXPECT_EQ(log.trim(LogSeq(1)).error().code, ErrorCode::kFenced);
    EXPECT_EQ(log.stop().error().code, ErrorCode::kFenced);
    env.clock.sleep(std::chrono::minutes(10));
  });
  EXPECT_EQ(world.store().sent(), sent_when_fenced) << "nothing is sent any more";
  EXPECT_TRUE(is_fence_at(world, 1));
}

TEST(LogOutcome, ABatchThatLandsBelowAHoleIsNotAcknowledgedWhenTheHoleIsFenced) {
  TestWorld world;
  world.store().plant(log_key(0), fence_bytes(0));
  set_put_fates(world, {{{0, 0}, landing_after(seconds(1))}});
  with_log(world, {}, [&](const Env& env, LogWriter& log) {
    log.append(kStream, "at the fence");
    log.cut();
    const LogSeq beyond = log.append(kStream, "beyond it");
    log.cut();
    env.clock.sleep(milliseconds(500));
    EXPECT_EQ(seqs_of_log(world), (Seqs{0, 1})) << "it has landed";
    EXPECT_FALSE(log.fenced());
    EXPECT_EQ(log.wait_acknowledged(beyond).error().code, ErrorCode::kFenced);
  });
}

TEST(LogOutcome, WhatLayThereAndIsGoneWasForeign) {
  TestWorld world;
  world.store().plant(log_key(0), fence_bytes(0));
  world.store().set_fates([&](const StoreRequest& request) {
    if (request.call == StoreCall::kGet) world.store().destroy(log_key(0));
    return StoreFate{};
  });
  with_log(world, {}, [&](const Env&, LogWriter& log) {
    EXPECT_EQ(log.wait_acknowledged(log.append(kStream, "x")).error().code, ErrorCode::kFenced);
  });
}

TEST(LogOutcome, AFlippedBitInTheReadBackDoesNotFence) {
  TestWorld world;
  int gets = 0;
  int puts = 0;
  world.store().set_fates([&](const StoreRequest& request) {
    if (request.call == StoreCall::kPut && puts++ == 0) return answer_lost();
    if (request.call == StoreCall::kGet && gets++ < 2) return flipped();
    return StoreFate{};
  });
  with_log(world, {}, [&](const Env&, LogWriter& log) {
    EXPECT_TRUE(log.wait_acknowledged(log.append(kStream, "x")));
    EXPECT_FALSE(log.fenced());
  });
  EXPECT_EQ(gets, 3);
}

/// True when an own batch whose answer was lost is acknowledged.
bool own_content_means_landed() {
  TestWorld world;
  set_put_fates(world, {{{0, 0}, answer_lost()}});
  bool acknowledged = false;
  with_log(world, {}, [&](const Env&, LogWriter& log) {
    acknowledged = log.wait_acknowledged(log.append(kStream, "x")).has_value();
  });
  return acknowledged;
}

/// True when a batch is not acknowledged because foreign content lies at its seq.
bool foreign_content_means_fenced() {
  TestWorld world;
  world.store().plant(log_key(0), fence_bytes(0));
  bool fenced = false;
  with_log(world, {}, [&](const Env&, LogWriter& log) {
    fenced = !log.wait_acknowledged(log.append(kStream, "x")).has_value();
  });
  return fenced;
}

TEST(LogOutcome, AFailedConditionSaysNothingBeforeItIsReadBack) {
  EXPECT_TRUE(own_content_means_landed());
  EXPECT_TRUE(foreign_content_means_fenced());
  {
    WithMutant mutant(Mutant::own_412_is_fence);
    EXPECT_FALSE(own_content_means_landed());
  }
  {
    WithMutant mutant(Mutant::other_412_is_success);
    EXPECT_FALSE(foreign_content_means_fenced());
  }
  {
    WithMutant mutant(Mutant::unknown_is_failure);
    EXPECT_FALSE(own_content_means_landed());
  }
}

/// Counts log lines by their event's name.
class Lines final : public sim::Observer {
 public:
  explicit Lines(TestWorld& world) : trace_(world.world().trace()) { trace_.add_observer(*this); }
  ~Lines() override { trace_.remove_observer(*this); }
  void on_log(const sim::Life&, Severity, std::string_view event,
              std::initializer_list<LogField>) override {
    ++counts_[std::string(event)];
  }
  int operator[](const std::string& event) { return counts_[event]; }

 private:
  sim::SimTrace& trace_;
  std::map<std::string, int> counts_;
};

TEST(LogOutcome, WithoutSpaceOrPermissionItWaitsAndLosesNothing) {
  for (const ErrorCode code : {ErrorCode::kFull, ErrorCode::kDenied, ErrorCode::kInvalid}) {
    TestWorld world;
    Lines lines(world);
    const auto cured = world.world().now() + seconds(60);
    world.store().set_fates([&, code](const StoreRequest&) {
      return world.world().now() < cured ? refused(code) : StoreFate{};
    });
    LogConfig config;
    config.batch_bytes_max = 1000;
    config.queued_bytes_max = 3000;
    with_log(world, config, [&](const Env&, LogWriter& log) {
      LogSeq last;
      for (int i = 0; i < 20; ++i) last = log.append(kStream, std::string(1000, 'x'));
      EXPECT_EQ(log.wait_for_room().error().code, code) << "appenders are held back until then";
      EXPECT_TRUE(log.wait_acknowledged(last));
      EXPECT_GE(world.world().now(), cured);
    });
    EXPECT_GE(lines["log_put_failed"], 5);
    EXPECT_LE(lines["log_put_failed"], 7) << "one in ten seconds";
    EXPECT_EQ(seqs_of_log(world).size(), 20u);
  }
}

TEST(LogOutcome, DamageAtAnOwnSeqIsReportedAndNeverAcknowledged) {
  TestWorld world;
  Lines lines(world);
  world.store().plant(log_key(0), "no log object");
  with_log(world, {}, [&](const Env&, LogWriter& log) {
    EXPECT_FALSE(log.wait_acknowledged(log.append(kStream, "x")));
    EXPECT_TRUE(log.fenced());
  });
  EXPECT_EQ(lines["log_object_damaged"], 1);
  EXPECT_EQ(lines["log_fenced"], 0);
}

TEST(LogOutcome, AThrottlingStoreOnlySlowsItDown) {
  TestWorld world;
  world.store().set_fates([](const StoreRequest& request) {
    return request.number % 3 == 0 ? StoreFate{} : refused(ErrorCode::kThrottled);
  });
  with_log(world, {}, [&](const Env&, LogWriter& log) {
    for (int i = 0; i < 20; ++i) {
      EXPECT_TRUE(log.wait_acknowledged(log.append(kStream, "x")));
    }
  });
}

}  // namespace
}  // namespace morula::log_test
