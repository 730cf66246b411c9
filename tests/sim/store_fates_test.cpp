#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/rt/clock.hpp"
#include "core/rt/store.hpp"
#include "sim/world/test_world.hpp"
#include "tests/sim/fates.hpp"

namespace morula::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// A world whose next requests have a given fate, and one second of patience.
struct Fateful {
  void next(StoreFate fate) {
    used = false;
    world.store().set_fates([this, fate](const StoreRequest&) {
      if (used) return StoreFate{};
      used = true;
      return fate;
    });
  }
  RequestOptions options(const Env& env) {
    RequestOptions options;
    options.deadline = env.clock.now() + seconds(1);
    return options;
  }
  std::string create(const Env& env, std::string body) {
    auto put =
        env.store.put("key", make_blob(std::move(body)), Precondition::if_absent(), options(env));
    return put ? "ok" : std::string(to_string(put.error().code));
  }
  std::string in_store() {
    Blob body = world.store().peek("key");
    return body ? *body : "absent";
  }

  TestWorld world;
  bool used = false;
};

TEST(StoreFate, ALostPutTimesOutAndHasDoneNothing) {
  Fateful f;
  f.next(request_lost());
  f.world.run([&](const Env& env) { EXPECT_EQ(f.create(env, "a"), "timeout"); });
  f.world.pass(seconds(100));
  EXPECT_EQ(f.in_store(), "absent");
}

TEST(StoreFate, APutWhoseAnswerIsLostTimesOutAndIsDone) {
  Fateful f;
  f.next(answer_lost());
  f.world.run([&](const Env& env) { EXPECT_EQ(f.create(env, "a"), "timeout"); });
  EXPECT_EQ(f.in_store(), "a");
}

TEST(StoreFate, ALatePutLandsAfterItsCallerHasTimedOutAndDied) {
  Fateful f;
  f.next(landing_after(seconds(10)));
  f.world.run([&](const Env& env) { EXPECT_EQ(f.create(env, "a"), "timeout"); });
  f.world.process().kill();
  EXPECT_EQ(f.in_store(), "absent");
  f.world.pass(seconds(10));
  EXPECT_EQ(f.in_store(), "a");
}

TEST(StoreFate, ALatePutStillObeysItsConditionWhenItLands) {
  Fateful f;
  f.next(landing_after(seconds(10)));
  f.world.run([&](const Env& env) {
    EXPECT_EQ(f.create(env, "late"), "timeout");
    EXPECT_EQ(f.create(env, "other"), "ok");
    env.clock.sleep(seconds(20));
  });
  EXPECT_EQ(f.in_store(), "other");
}

TEST(StoreFate, ACopyOfAPutLandsAfterItsObjectWasDeleted) {
  Fateful f;
  f.next(landing_again_after(seconds(10)));
  f.world.run([&](const Env& env) {
    EXPECT_EQ(f.create(env, "a"), "ok");
    EXPECT_TRUE(env.store.remove("key", f.options(env)));
    EXPECT_EQ(f.in_store(), "absent");
    env.clock.sleep(seconds(10));
  });
  EXPECT_EQ(f.in_store(), "a");
}

TEST(StoreFate, AConflictHasDoneNothing) {
  Fateful f;
  f.next(refused(ErrorCode::kConflict));
  f.world.run([&](const Env& env) {
    EXPECT_EQ(f.create(env, "a"), "conflict");
    EXPECT_EQ(f.in_store(), "absent");
    EXPECT_EQ(f.create(env, "a"), "ok");
  });
}

TEST(StoreFate, AThrottledRequestSaysWhenToTryAgain) {
  Fateful f;
  f.next(refused(ErrorCode::kThrottled));
  f.world.run([&](const Env& env) {
    auto put = env.store.put("key", make_blob("a"), Precondition::if_absent(), f.options(env));
    ASSERT_FALSE(put);
    EXPECT_EQ(put.error().code, ErrorCode::kThrottled);
    EXPECT_GT(put.error().retry_after_ms, 0);
    EXPECT_EQ(f.in_store(), "absent");
  });
}

TEST(StoreFate, AnInternalErrorMayOrMayNotHaveDoneTheWork) {
  for (bool applied : {false, true}) {
    Fateful f;
    f.next(applied ? spoiled(ErrorCode::kUnavailable) : refused(ErrorCode::kUnavailable));
    f.world.run([&](const Env& env) { EXPECT_EQ(f.create(env, "a"), "unavailable"); });
    EXPECT_EQ(f.in_store(), applied ? "a" : "absent");
  }
}

TEST(StoreFate, AFlippedBitIsGoneWhenTheObjectIsReadAgain) {
  Fateful f;
  const std::string sound(100, 'x');
  f.world.store().plant("key", sound);
  f.next(flipped());
  f.world.run([&](const Env& env) {
    auto damaged = env.store.get("key", {}, f.options(env));
    ASSERT_TRUE(damaged);
    EXPECT_EQ(damaged->body->size(), sound.size());
    EXPECT_NE(*damaged->body, sound);
    auto again = env.store.get("key", {}, f.options(env));
    ASSERT_TRUE(again);
    EXPECT_EQ(*again->body, sound);
  });
}

TEST(StoreFate, ABatchDeleteCanStopHalfWay) {
  Fateful f;
  std::vector<std::string> keys = {"a", "b", "c", "d"};
  for (const std::string& key : keys) f.world.store().plant(key, "body");
  StoreFate half_done = spoiled(ErrorCode::kUnavailable);
  half_done.half = true;
  f.next(half_done);
  f.world.run([&](const Env& env) {
    EXPECT_FALSE(env.store.remove_many(keys, f.options(env)));
    EXPECT_EQ(f.world.store().keys(), (std::vector<std::string>{"c", "d"}));
  });
}

TEST(StoreFate, AListingStopsAtTheStoresPage) {
  Fateful f;
  StoreManners manners;
  manners.page_keys_max = 2;
  f.world.store().set_manners(manners);
  for (const char* key : {"a", "b", "c"}) f.world.store().plant(key, "body");
  f.world.run([&](const Env& env) {
    auto page = env.store.list("", "", 1000, f.options(env));
    ASSERT_TRUE(page);
    EXPECT_EQ(page->objects.size(), 2u);
    EXPECT_TRUE(page->truncated);
    page = env.store.list("", "b", 1000, f.options(env));
    ASSERT_TRUE(page);
    EXPECT_EQ(page->objects.size(), 1u);
    EXPECT_FALSE(page->truncated);
  });
}

TEST(StoreFate, TheLoserOfARaceMayHearAnErrorInsteadOfALostCondition) {
  Fateful f;
  StoreManners manners;
  manners.loser_error_percent = 100;
  f.world.store().set_manners(manners);
  f.world.store().plant("key", "winner");
  f.world.run([&](const Env& env) {
    for (const Precondition& lost : {Precondition::if_absent(), Precondition::if_match("stale")}) {
      auto put = env.store.put("key", make_blob("loser"), lost, f.options(env));
      ASSERT_FALSE(put);
      EXPECT_EQ(put.error().code, ErrorCode::kUnavailable);
    }
    EXPECT_EQ(*f.world.store().peek("key"), "winner");
  });
}

TEST(StoreFate, ACallerWithoutDeadlineHearsATimeoutInTheEnd) {
  Fateful f;
  f.next(answer_lost());
  f.world.run([&](const Env& env) {
    auto put = env.store.put("key", make_blob("a"), Precondition::if_absent(), {});
    ASSERT_FALSE(put);
    EXPECT_EQ(put.error().code, ErrorCode::kTimeout);
  });
}

}  // namespace
}  // namespace morula::sim
