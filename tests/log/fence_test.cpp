// Fencing another's log (R3a), and replaying its closed ranges (R3e).
#include "core/log/fence.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "tests/log/log_fixture.hpp"

namespace morula::log_test {
namespace {

using Seqs = std::vector<uint64_t>;
constexpr uint64_t kWindow = 4;

Result<LogSeq> fence(TestWorld& world, uint64_t hint = 0) {
  std::optional<Result<LogSeq>> fence;
  world.run([&](const Env& env) {
    fence = fence_log(env, kTaker, kOwner, LogSeq(hint), kWindow, RetryConfig{});
  });
  return *fence;
}

TEST(Fence, OfALogThatWasNeverWrittenIsAtItsBeginning) {
  TestWorld world;
  EXPECT_EQ(fence(world), LogSeq(0));
  EXPECT_TRUE(is_fence_at(world, 0));
}

TEST(Fence, GoesRightBehindALogWithoutHoles) {
  TestWorld world;
  plant_batches(world, {3, 4, 5, 6, 7, 8});
  EXPECT_EQ(fence(world), LogSeq(9));
  EXPECT_TRUE(is_fence_at(world, 9));
  EXPECT_EQ(decode_log_object(*world.store().peek(log_key(9)))->writer, kTaker);
  EXPECT_EQ(world.store().sent(), 3u) << "LIST, PUT, LIST: sizes tell what is data";
}

TEST(Fence, GoesIntoTheLowestHoleOfTheLastWindow) {
  TestWorld world;
  plant_batches(world, {0, 1, 2, 3, 5, 7});
  EXPECT_EQ(fence(world), LogSeq(4)) << "7 is the highest, 4 to 7 are its window";
}

TEST(Fence, DoesNotGoIntoAHoleBelowTheLastWindow) {
  TestWorld world;
  // A trimmed log whose zombie PUT of 1 has landed again: the hole above it means nothing.
  plant_batches(world, {1, 6, 7, 8, 9});
  EXPECT_EQ(fence(world), LogSeq(10));
}

TEST(Fence, ThatLiesThereAndCountsIsTaken) {
  TestWorld world;
  plant_batches(world, {0, 1, 3, 5});
  world.store().plant(log_key(2), fence_bytes(2));
  EXPECT_EQ(fence(world), LogSeq(2)) << "5 lies in its window";
  EXPECT_EQ(world.store().sent(StoreCall::kPut), 0u);
}

TEST(Fence, WithDataBeyondItsWindowDoesNotCount) {
  TestWorld world;
  plant_batches(world, {4, 5, 6, 7, 8});
  world.store().plant(log_key(3), fence_bytes(3));
  EXPECT_EQ(fence(world), LogSeq(9));
}

TEST(Fence, TheHighestCounts) {
  TestWorld world;
  plant_batches(world, {0, 1, 2, 4});
  world.store().plant(log_key(3), fence_bytes(3));
  world.store().plant(log_key(5), fence_bytes(5));
  EXPECT_EQ(fence(world), LogSeq(5));
}

TEST(Fence, OfAnotherTakerAtTheSamePlaceCounts) {
  TestWorld world;
  plant_batches(world, {0, 1});
  world.store().set_fates([&](const StoreRequest& request) {
    if (request.call == StoreCall::kPut) world.store().plant(log_key(2), fence_bytes(2));
    return StoreFate{};
  });
  EXPECT_EQ(fence(world), LogSeq(2));
  EXPECT_EQ(decode_log_object(*world.store().peek(log_key(2)))->writer, kOther);
}

TEST(Fence, OwnOneWhoseAnswerWasLostCounts) {
  TestWorld world;
  plant_batches(world, {0, 1});
  set_put_fates(world, {{{2, 0}, answer_lost()}});
  EXPECT_EQ(fence(world), LogSeq(2));
}

TEST(Fence, GivesWayToDataThatLandsFirst) {
  TestWorld world;
  plant_batches(world, {0, 1});
  int puts = 0;
  world.store().set_fates([&](const StoreRequest& request) {
    if (request.call == StoreCall::kPut && puts++ == 0) plant_batches(world, {2, 3});
    return StoreFate{};
  });
  EXPECT_EQ(fence(world), LogSeq(4));
  EXPECT_FALSE(is_fence_at(world, 2));
}

/// The taker stalls between its LIST and its PUT. Meanwhile the owner has gone far ahead and has
/// trimmed the region where the fence then goes.
Result<LogSeq> fence_after_a_stall(TestWorld& world) {
  plant_batches(world, {0, 1});
  bool stalled = false;
  world.store().set_fates([&](const StoreRequest& request) {
    if (request.call == StoreCall::kPut && !stalled) {
      stalled = true;
      for (const uint64_t seq : {0, 1}) world.store().destroy(log_key(seq));
      plant_batches(world, {10, 11, 12, 13});
    }
    return StoreFate{};
  });
  return fence(world);
}

TEST(Fence, InARegionThatWasTrimmedMeanwhileDoesNotCount) {
  TestWorld world;
  EXPECT_EQ(fence_after_a_stall(world), LogSeq(14));
  EXPECT_TRUE(is_fence_at(world, 2)) << "the stray fence stays";
}

TEST(Fence, WithoutASecondListWouldBelieveATrimmedRegion) {
  TestWorld world;
  WithMutant mutant(Mutant::fence_without_second_list);
  EXPECT_EQ(fence_after_a_stall(world), LogSeq(2));
}

TEST(Fence, IsSkippedOnlyAsAMutant) {
  TestWorld world;
  plant_batches(world, {0, 1});
  WithMutant mutant(Mutant::skip_fence);
  EXPECT_EQ(fence(world), LogSeq(2));
  EXPECT_EQ(seqs_of_log(world), (Seqs{0, 1}));
}

TEST(Fence, DoesNotCountWhenAnotherOneLandsAboveIt) {
  TestWorld world;
  plant_batches(world, {0, 1, 2, 3});
  int lists = 0;
  world.store().set_fates([&](const StoreRequest& request) {
    if (request.call == StoreCall::kList && lists++ == 1) {
      world.store().plant(log_key(6), fence_bytes(6));
    }
    return StoreFate{};
  });
  EXPECT_EQ(fence(world), LogSeq(6));
  EXPECT_TRUE(is_fence_at(world, 4));
}

TEST(Fence, ListsNoMoreThanTheHintLeaves) {
  TestWorld world;
  world.store().set_manners({.abilities = {}, .page_keys_max = 10});
  for (uint64_t seq = 0; seq < 1000; ++seq) plant_batches(world, {seq});
  EXPECT_EQ(fence(world, 990), LogSeq(1000));
  EXPECT_LE(world.store().sent(StoreCall::kList), 4u);
}

TEST(Fence, ListsAllWhenTheHintLeadsNowhere) {
  TestWorld world;
  plant_batches(world, {0, 1, 2});
  EXPECT_EQ(fence(world, 500), LogSeq(3));
}

TEST(Fence, WorksWithPagesOfOne) {
  TestWorld world;
  world.store().set_manners({.abilities = {}, .page_keys_max = 1});
  plant_batches(world, {0, 1, 2, 4, 6});
  EXPECT_EQ(fence(world), LogSeq(3));
}

TEST(Fence, LooksAgainWhenABitFlipsInTheFenceThatItFinds) {
  TestWorld world;
  world.store().plant(log_key(0), fence_bytes(0));
  int gets = 0;
  world.store().set_fates([&](const StoreRequest& request) {
    return request.call == StoreCall::kGet && gets++ == 0 ? flipped() : StoreFate{};
  });
  EXPECT_EQ(fence(world), LogSeq(0));
}

TEST(Fence, NeverPassesOverDamage) {
  const std::string folder = keys::log_folder(kOwner);
  const std::vector<std::pair<std::string, std::string>> damage = {
      {log_key(1), ""},                                // shorter than any log object
      {log_key(1), std::string(kLogFenceBytes, 'x')},  // the size of a fence
      {log_key(1), fence_bytes(7)},                    // a fence of another place
      {folder + "notes.txt", std::string(500, 'x')},   // not ours
      {folder + "99999999999999999999", std::string(500, 'x')}};
  for (const auto& [key, bytes] : damage) {
    TestWorld world;
    plant_batches(world, {0});
    world.store().plant(key, bytes);
    const auto result = fence(world);
    ASSERT_FALSE(result.has_value()) << key;
    EXPECT_EQ(result.error().code, ErrorCode::kCorrupt);
    EXPECT_NE(result.error().message.find(key), std::string::npos) << result.error().message;
  }
}

TEST(Fence, ReportsWhatTheStoreRefusesForCertain) {
  TestWorld world;
  world.store().set_fates([](const StoreRequest&) { return refused(ErrorCode::kDenied); });
  EXPECT_EQ(fence(world).error().code, ErrorCode::kDenied);
}

struct Replayed {
  Result<> result;
  Seqs seqs;
  std::vector<std::string> payloads;
};

Replayed replay(TestWorld& world, uint64_t from, uint64_t to) {
  Replayed replayed;
  world.run([&](const Env& env) {
    replayed.result = replay_log(env, kTaker, kOwner, LogSeq(from), LogSeq(to), RetryConfig{},
                                 [&](const LogObject& object) -> Result<> {
                                   env.clock.sleep(milliseconds(1));
                                   replayed.seqs.push_back(object.seq.value);
                                   for (const LogRecord& record : object.records) {
                                     replayed.payloads.emplace_back(record.payload);
                                   }
                                   return {};
                                 });
  });
  return replayed;
}

TEST(Replay, HandsOutExactlyTheRangeInOrderReadingEachObjectOnce) {
  TestWorld world;
  for (uint64_t seq = 0; seq < 40; ++seq) {
    world.store().plant(log_key(seq), batch_bytes(seq, "payload " + std::to_string(seq)));
  }
  // The nearer ones are the slower.
  world.store().set_fates([](const StoreRequest& request) {
    return landing_after(milliseconds(100 - 2 * keys::log_seq(request.key)->value));
  });
  const Replayed replayed = replay(world, 3, 37);
  EXPECT_TRUE(replayed.result);
  ASSERT_EQ(replayed.seqs.size(), 34u);
  EXPECT_TRUE(std::is_sorted(replayed.seqs.begin(), replayed.seqs.end()));
  EXPECT_EQ(replayed.seqs.front(), 3u);
  EXPECT_EQ(replayed.payloads.back(), "payload 36");
  EXPECT_EQ(world.store().sent(), 34u);
}

TEST(Replay, OfAnEmptyRangeReadsNothing) {
  TestWorld world;
  EXPECT_TRUE(replay(world, 5, 5).result);
  EXPECT_EQ(world.store().sent(), 0u);
}

TEST(Replay, ReadsAFewObjectsAheadAndNoMore) {
  TestWorld world;
  for (uint64_t seq = 0; seq < 64; ++seq) plant_batches(world, {seq});
  world.run([&](const Env& env) {
    uint64_t applied = 0;
    const auto result = replay_log(env, kTaker, kOwner, LogSeq(0), LogSeq(64), RetryConfig{},
                                   [&](const LogObject&) -> Result<> {
                                     env.clock.sleep(milliseconds(100));
                                     ++applied;
                                     EXPECT_LE(world.store().sent(), applied + 8);
                                     return {};
                                   });
    EXPECT_TRUE(result);
  });
  EXPECT_LE(world.world().now().time_since_epoch(), milliseconds(6410)) << "it does read ahead";
}

TEST(Replay, StopsOneShortOnlyAsAMutant) {
  TestWorld world;
  plant_batches(world, {0, 1, 2});
  WithMutant mutant(Mutant::replay_one_short);
  EXPECT_EQ(replay(world, 0, 3).seqs, (Seqs{0, 1}));
}

TEST(Replay, NeverPassesOverWhatIsNotABatchOfItsPlace) {
  std::string damaged = batch_bytes(2);
  damaged[300 % damaged.size()] ^= 1;
  for (const std::string& bytes : {std::string(), damaged, fence_bytes(2), batch_bytes(1)}) {
    TestWorld world;
    plant_batches(world, {0, 1, 3, 4});
    if (!bytes.empty()) world.store().plant(log_key(2), bytes);
    const Replayed replayed = replay(world, 0, 5);
    ASSERT_FALSE(replayed.result.has_value());
    EXPECT_EQ(replayed.result.error().code, ErrorCode::kCorrupt);
    EXPECT_NE(replayed.result.error().message.find(log_key(2)), std::string::npos);
    EXPECT_EQ(replayed.seqs, (Seqs{0, 1})) << "what lies below it was applied";
  }
}

TEST(Replay, ReadsAgainWhenABitFlippedOnTheWay) {
  TestWorld world;
  plant_batches(world, {0, 1, 2});
  uint64_t gets = 0;
  world.store().set_fates(
      [&](const StoreRequest&) { return gets++ < 6 ? flipped() : StoreFate{}; });
  EXPECT_EQ(replay(world, 0, 3).seqs, (Seqs{0, 1, 2}));
}

TEST(Replay, EndsWithTheFirstErrorOfItsApplier) {
  TestWorld world;
  plant_batches(world, {0, 1, 2, 3});
  world.run([&](const Env& env) {
    int applied = 0;
    const auto result = replay_log(env, kTaker, kOwner, LogSeq(0), LogSeq(4), RetryConfig{},
                                   [&](const LogObject&) -> Result<> {
                                     if (++applied == 2) return fail(ErrorCode::kBusy, "full");
                                     return {};
                                   });
    EXPECT_EQ(result.error().code, ErrorCode::kBusy);
    EXPECT_EQ(applied, 2);
  });
}

}  // namespace
}  // namespace morula::log_test
