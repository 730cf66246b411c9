// Both ends of a live log: trim (R7) and the own FENCE of a clean stop (R8).
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "core/log/log_writer.hpp"
#include "tests/log/log_fixture.hpp"

namespace morula::log_test {
namespace {

using Seqs = std::vector<uint64_t>;

Seqs range(uint64_t begin, uint64_t end) {
  Seqs seqs(end - begin);
  std::iota(seqs.begin(), seqs.end(), begin);
  return seqs;
}

void append_batches(LogWriter& log, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    log.append(kStream, "x");
    log.cut();
  }
  const LogSeq end = log.cut();
  EXPECT_TRUE(log.wait_acknowledged(end - 1));
}

/// Each key that was deleted, in order.
class Deletions final : public sim::Observer {
 public:
  explicit Deletions(TestWorld& world) : trace_(world.world().trace()) {
    trace_.add_observer(*this);
  }
  ~Deletions() override { trace_.remove_observer(*this); }
  void on_store_changed(const StoreRequest&, std::string_view key, const Blob& body) override {
    if (body == nullptr) seqs.push_back(keys::log_seq(key)->value);
  }
  Seqs seqs;

 private:
  sim::SimTrace& trace_;
};

TEST(LogTrim, DeletesAscendingWhatLiesBelow) {
  for (const bool batch_remove : {true, false}) {
    TestWorld world;
    world.store().set_manners({.abilities = {.ranges = true, .batch_remove = batch_remove}});
    Deletions deletions(world);
    with_log(world, {}, [&](const Env&, LogWriter& log) {
      append_batches(log, 30);
      EXPECT_TRUE(log.trim(LogSeq(5)));
      EXPECT_EQ(seqs_of_log(world), range(5, 30));
      EXPECT_TRUE(log.trim(LogSeq(12)));
    });
    EXPECT_EQ(seqs_of_log(world), range(12, 30));
    EXPECT_EQ(deletions.seqs, range(0, 12)) << "each once, in order";
    EXPECT_EQ(world.store().sent(Purpose::kTrim), batch_remove ? 2u : 12u);
  }
}

/// True when the last W landed objects stay, whatever the bound.
bool keeps_its_window() {
  TestWorld world;
  LogConfig config;
  config.window = 4;
  with_log(world, config, [&](const Env&, LogWriter& log) {
    append_batches(log, 10);
    EXPECT_TRUE(log.trim(LogSeq(10)));
  });
  return seqs_of_log(world) == range(6, 10);
}

TEST(LogTrim, NeverDeletesTheLastLandedObjectsOfAWindow) {
  EXPECT_TRUE(keeps_its_window());
  WithMutant mutant(Mutant::trim_into_window);
  EXPECT_FALSE(keeps_its_window());
}

TEST(LogTrim, DoesNothingInAYoungLog) {
  TestWorld world;
  with_log(world, {}, [&](const Env&, LogWriter& log) {
    EXPECT_TRUE(log.trim(LogSeq(0)));
    append_batches(log, 8);
    EXPECT_TRUE(log.trim(LogSeq(8)));
  });
  EXPECT_EQ(seqs_of_log(world), range(0, 8));
  EXPECT_EQ(world.store().sent(Purpose::kTrim), 0u);
}

TEST(LogTrim, GoesOnWhereAFailureHasEndedIt) {
  TestWorld world;
  world.store().set_manners({.abilities = {.ranges = true, .batch_remove = false}});
  bool denied = false;
  world.store().set_fates([&](const StoreRequest& request) {
    const bool is_third = request.call == StoreCall::kRemove && request.key == log_key(3);
    return is_third && denied ? refused(ErrorCode::kDenied) : StoreFate{};
  });
  with_log(world, {}, [&](const Env&, LogWriter& log) {
    append_batches(log, 20);
    denied = true;
    EXPECT_EQ(log.trim(LogSeq(10)).error().code, ErrorCode::kDenied);
    EXPECT_EQ(seqs_of_log(world), range(3, 20)) << "nothing above what could not be deleted";
    denied = false;
    const uint64_t before = world.store().sent(StoreCall::kRemove);
    EXPECT_TRUE(log.trim(LogSeq(10)));
    EXPECT_EQ(world.store().sent(StoreCall::kRemove) - before, 7u);
  });
  EXPECT_EQ(seqs_of_log(world), range(10, 20));
}

TEST(LogTrim, RepeatsADeletionWhoseAnswerWasLost) {
  TestWorld world;
  int removes = 0;
  world.store().set_fates([&](const StoreRequest& request) {
    if (request.call != StoreCall::kRemoveMany || removes++ > 0) return StoreFate{};
    StoreFate fate = answer_lost();
    fate.half = true;
    return fate;
  });
  with_log(world, {}, [&](const Env&, LogWriter& log) {
    append_batches(log, 20);
    EXPECT_TRUE(log.trim(LogSeq(10)));
  });
  EXPECT_EQ(seqs_of_log(world), range(10, 20));
}

TEST(LogTrim, StopsWhenTheLogIsFencedMeanwhile) {
  TestWorld world;
  world.store().set_manners({.abilities = {.ranges = true, .batch_remove = false}});
  with_log(world, {}, [&](const Env& env, LogWriter& log) {
    append_batches(log, 20);
    world.store().plant(log_key(20), fence_bytes(20));
    with_scope(env.domain, [&](Scope& scope) {
      scope.spawn("trim",
                  [&] { EXPECT_EQ(log.trim(LogSeq(12)).error().code, ErrorCode::kFenced); });
      env.clock.sleep(milliseconds(1));
      log.append(kStream, "x");
      scope.join();
    });
  });
  EXPECT_GT(seqs_of_log(world).size(), 12u);
}

TEST(LogStop, WritesItsOwnFenceAsTheLastObject) {
  TestWorld world;
  with_log(world, {}, [&](const Env& env, LogWriter& log) {
    append_batches(log, 3);
    log.append(kStream, "open");
    EXPECT_TRUE(log.stop());
    EXPECT_FALSE(log.fenced());
    EXPECT_EQ(log.acknowledged(), LogSeq(4));
    EXPECT_TRUE(log.wait_acknowledged(LogSeq(3)));
    const LogSeq late = log.append(kStream, "late");
    EXPECT_EQ(log.wait_acknowledged(late).error().code, ErrorCode::kFenced);
    EXPECT_EQ(log.wait_for_room().error().code, ErrorCode::kFenced);
    env.clock.sleep(seconds(5));
    EXPECT_TRUE(log.stop()) << "again, at once";
  });
  EXPECT_EQ(seqs_of_log(world), range(0, 5));
  EXPECT_TRUE(is_fence_at(world, 4));
  EXPECT_EQ(decode_log_object(*world.store().peek(log_key(4)))->writer, kOwner);
}

TEST(LogStop, FencesALogThatWasNeverWritten) {
  TestWorld world;
  with_log(world, {}, [&](const Env&, LogWriter& log) { EXPECT_TRUE(log.stop()); });
  EXPECT_TRUE(is_fence_at(world, 0));
}

/// True when the own fence lands after every batch, with a slow batch below others.
bool fences_after_all_have_landed() {
  TestWorld world;
  set_put_fates(world, {{{1, 0}, landing_after(seconds(3))}});
  bool all_below = true;
  with_log(world, {}, [&](const Env&, LogWriter& log) {
    for (int i = 0; i < 4; ++i) {
      log.append(kStream, "x");
      log.cut();
    }
    EXPECT_TRUE(log.stop());
    EXPECT_TRUE(is_fence_at(world, 4));
    all_below = seqs_of_log(world) == range(0, 5);
  });
  return all_below;
}

TEST(LogStop, WaitsUntilEveryBatchHasLanded) {
  EXPECT_TRUE(fences_after_all_have_landed());
  WithMutant mutant(Mutant::stop_fence_too_early);
  EXPECT_FALSE(fences_after_all_have_landed());
}

TEST(LogStop, FindsItsFenceWhenTheAnswerWasLost) {
  TestWorld world;
  set_put_fates(world, {{{2, 0}, answer_lost()}});
  with_log(world, {}, [&](const Env&, LogWriter& log) {
    append_batches(log, 2);
    EXPECT_TRUE(log.stop());
  });
  EXPECT_EQ(seqs_of_log(world), range(0, 3));
}

TEST(LogStop, GoesOnWithTheIdenticalFenceWhenItWasCancelledOnce) {
  TestWorld world;
  set_put_fates(world, {{{2, 0}, answer_lost()}});
  with_log(world, {}, [&](const Env& env, LogWriter& log) {
    append_batches(log, 2);
    with_scope(env.domain, [&](Scope& scope) {
      scope.spawn("impatient", [&] { (void)log.stop(); });
      env.clock.sleep(seconds(1));  // and the fiber is cancelled
    });
    EXPECT_TRUE(is_fence_at(world, 2));
    EXPECT_TRUE(log.stop()) << "its own fence, not somebody else's";
  });
}

TEST(LogStop, IsFencedWhenSomebodyElseWasFirst) {
  TestWorld world;
  world.store().plant(log_key(2), fence_bytes(2));
  with_log(world, {}, [&](const Env&, LogWriter& log) {
    append_batches(log, 2);
    EXPECT_EQ(log.stop().error().code, ErrorCode::kFenced);
    EXPECT_TRUE(log.fenced());
  });
}

}  // namespace
}  // namespace morula::log_test
