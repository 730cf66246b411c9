#include "core/store/observed_store.hpp"

#include <gtest/gtest.h>

#include "bench/memory_store.hpp"
#include "core/store/write_profile.hpp"
#include "sim/world/test_world.hpp"
#include "tests/store/idle_store.hpp"

namespace morula {
namespace {

const RequestOptions kForLog{kNever, Purpose::kLog};
const RequestOptions kForReads{kNever, Purpose::kDataRead};

/// Keeps what it was shown.
class Recorder final : public StoreObserver {
 public:
  void on_sent(const StoreExchange& exchange) override { sent.push_back(exchange); }
  void on_answered(const StoreExchange& exchange) override { answered.push_back(exchange); }
  std::vector<StoreExchange> sent;
  std::vector<StoreExchange> answered;
};

void with_observed(const std::function<void(Store&, Recorder&)>& body) {
  sim::TestWorld world;
  world.run([&](const Env& env) {
    MemoryStore within;
    Recorder recorder;
    ObservedStore store(within, env.clock, {&recorder});
    body(store, recorder);
  });
}

TEST(ObservedStore, ShowsWhatEachRequestWasForAndMoved) {
  with_observed([](Store& store, Recorder& recorder) {
    ASSERT_TRUE(store.put("a", make_blob("12345"), Precondition::if_absent(), kForLog));
    ASSERT_TRUE(store.get("a", ByteRange{1, 2}, kForReads));
    ASSERT_TRUE(store.list("", "", 10, kForLog));
    ASSERT_EQ(recorder.sent.size(), 3u);
    ASSERT_EQ(recorder.answered.size(), 3u);
    EXPECT_EQ(recorder.answered[0].call, StoreCall::kPut);
    EXPECT_EQ(recorder.answered[0].purpose, Purpose::kLog);
    EXPECT_EQ(recorder.answered[0].key, "a");
    EXPECT_EQ(recorder.answered[0].bytes_put, 5u);
    EXPECT_EQ(recorder.answered[1].bytes_got, 2u);
    EXPECT_EQ(recorder.answered[2].call, StoreCall::kList);
  });
}

TEST(ObservedStore, AnAnswerThatSaysNoIsASuccess) {
  with_observed([](Store& store, Recorder& recorder) {
    ASSERT_TRUE(store.put("a", make_blob("1"), Precondition::if_absent(), kForLog));
    EXPECT_FALSE(store.put("a", make_blob("2"), Precondition::if_absent(), kForLog));
    EXPECT_FALSE(store.get("b", std::nullopt, kForLog));
    EXPECT_FALSE(store.get("a", ByteRange{7, 1}, kForLog));
    EXPECT_TRUE(recorder.answered[1].succeeded());
    EXPECT_TRUE(recorder.answered[2].succeeded());
    EXPECT_FALSE(recorder.answered[3].succeeded());
  });
}

TEST(ObservedStore, ARequestWhoseFiberIsCancelledEndsAsCancelled) {
  sim::TestWorld world;
  world.run([&](const Env& env) {
    Recorder recorder;
    ObservedStore store(env.store, env.clock, {&recorder});
    with_scope(env.domain, [&](Scope& scope) {
      scope.spawn(
          "put", [&] { (void)store.put("a", make_blob("1"), Precondition::if_absent(), kForLog); });
      scope.spawn("end", [&] { scope.cancel(); });
      scope.join();
    });
    ASSERT_EQ(recorder.answered.size(), recorder.sent.size());
    ASSERT_EQ(recorder.answered.size(), 1u);
    EXPECT_TRUE(recorder.answered[0].cancelled);
    EXPECT_FALSE(recorder.answered[0].succeeded());
  });
}

/// Has the abilities that it is told to have.
class Able final : public IdleStore {
 public:
  explicit Able(StoreAbilities abilities) : abilities_(abilities) {}
  StoreAbilities abilities() const override { return abilities_; }

 private:
  StoreAbilities abilities_;
};

TEST(ObservedStore, HasExactlyTheAbilitiesOfTheStoreWithin) {
  sim::TestWorld world;
  world.run([&](const Env& env) {
    WriteProfile profile;
    PutProfiler profiler(profile);
    for (const bool ranges : {false, true}) {
      for (const bool batch_remove : {false, true}) {
        Able within({.ranges = ranges, .batch_remove = batch_remove});
        const ObservedStore store(within, env.clock, {&profiler});
        EXPECT_EQ(store.abilities(), within.abilities());
      }
    }
  });
}

}  // namespace
}  // namespace morula
