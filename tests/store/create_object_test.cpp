#include <gtest/gtest.h>

#include "tests/store/conditional_fixture.hpp"

namespace morula::store_test {
namespace {

TEST(CreateObject, TakesOneRequestWhenAllIsWell) {
  TestWorld world;
  expect_landed(world, create(world));
  EXPECT_EQ(world.store().sent(), 1u);
}

TEST(CreateObject, FindsItselfWhenItsAnswerWasLost) {
  TestWorld world;
  follow(world, {{{kPut, 0}, answer_lost()}});
  expect_landed(world, create(world));
  EXPECT_EQ(world.store().sent(kPut), 2u) << "the identical request once more";
  EXPECT_EQ(world.store().sent(kGet), 1u) << "and a look at what made it fail";
}

TEST(CreateObject, FindsItselfWhenTheStoreAnsweredWithAnErrorAfterAll) {
  TestWorld world;
  follow(world, {{{kPut, 0}, spoiled(ErrorCode::kUnavailable)}});
  expect_landed(world, create(world));
  EXPECT_EQ(world.store().sent(kPut), 1u) << "it looks before it repeats";
}

TEST(CreateObject, RepeatsARequestThatNeverArrived) {
  TestWorld world;
  follow(world, {{{kPut, 0}, request_lost()}, {{kPut, 1}, request_lost()}});
  expect_landed(world, create(world));
  EXPECT_EQ(world.store().sent(kGet), 0u);
}

TEST(CreateObject, IsLostToForeignContentAndShowsIt) {
  TestWorld world;
  world.store().plant("key", "foreign");
  expect_lost_to(create(world), "foreign");
  EXPECT_EQ(*world.store().peek("key"), "foreign");
}

TEST(CreateObject, IsLostToNothingWhenForeignContentIsGoneByTheTimeItLooks) {
  TestWorld world;
  world.store().plant("key", "foreign");
  world.store().set_fates([&](const StoreRequest& request) {
    if (request.call == kGet) world.store().destroy("key");
    return StoreFate{};
  });
  const auto outcome = create(world);
  ASSERT_TRUE(outcome.has_value());
  EXPECT_FALSE(outcome->landed);
  EXPECT_EQ(outcome->body, nullptr);
  EXPECT_TRUE(outcome->etag.empty());
}

TEST(CreateObject, DoesNotTakeItsOwnContentForForeignBecauseABitFlippedOnTheWay) {
  TestWorld world;
  follow(world, {{{kPut, 0}, answer_lost()}, {{kGet, 0}, flipped()}});
  expect_landed(world, create(world));
}

TEST(CreateObject, ShowsForeignContentWithoutFlippedBits) {
  TestWorld world;
  world.store().plant("key", "foreign");
  follow(world, {{{kGet, 0}, flipped()}, {{kGet, 1}, flipped()}});
  expect_lost_to(create(world), "foreign");
}

TEST(CreateObject, DoesNotTakeAConflictForContent) {
  TestWorld world;
  follow(world, {{{kPut, 0}, refused(ErrorCode::kConflict)}});
  expect_landed(world, create(world));
  EXPECT_EQ(world.store().sent(kPut), 2u);
}

TEST(CreateObject, WaitsAsLongAsAThrottlingStoreAsks) {
  TestWorld world;
  follow(world, {{{kPut, 0}, refused(ErrorCode::kThrottled)}});
  const auto before = world.world().now();
  expect_landed(world, create(world));
  EXPECT_GE(world.world().now() - before, milliseconds(100)) << "the hint of the simulated store";
}

TEST(CreateObject, IsLostToAForeignCreateThatItsLateFirstAttemptCannotUndo) {
  TestWorld world;
  follow(world, {{{kPut, 0}, landing_after(seconds(30))}, {{kPut, 1}, request_lost()}});
  world.world().events().after(seconds(6), sim::EventQueue::kAlwaysOpen,
                               [&] { world.store().plant("key", "foreign"); });
  expect_lost_to(create(world), "foreign");
  world.pass(seconds(60));
  EXPECT_EQ(*world.store().peek("key"), "foreign");
}

TEST(CreateObject, PausesEverLongerBetweenAttempts) {
  TestWorld world;
  world.store().set_fates([](const StoreRequest& request) {
    return request.number <= 20 ? refused(ErrorCode::kUnavailable) : StoreFate{};
  });
  expect_landed(world, create(world));
  // 20 ms doubled up to a second, at least half of each: about 7.6 s, at most twice that.
  const auto took = world.world().now().time_since_epoch();
  EXPECT_GE(took, seconds(7));
  EXPECT_LE(took, seconds(17));
}

TEST(CreateObject, ReturnsARefusalThatIsCertain) {
  for (const ErrorCode code : {ErrorCode::kDenied, ErrorCode::kFull, ErrorCode::kInvalid}) {
    TestWorld world;
    follow(world, {{{kPut, 0}, refused(code)}});
    const auto outcome = create(world);
    ASSERT_FALSE(outcome.has_value());
    EXPECT_EQ(outcome.error().code, code);
    EXPECT_EQ(world.store().sent(), 1u);
  }
}

TEST(CreateObject, DoesNotTakeARefusalForTheOutcomeOfAnEarlierAttempt) {
  TestWorld world;
  follow(world, {{{kPut, 0}, answer_lost()}, {{kPut, 1}, refused(ErrorCode::kDenied)}});
  expect_landed(world, create(world));
}

TEST(CreateObject, GoesOnWhileWhatLiesThereCannotBeRead) {
  TestWorld world;
  world.store().plant("key", "foreign");
  follow(world, {{{kGet, 0}, refused(ErrorCode::kDenied)}});
  expect_lost_to(create(world), "foreign");
}

TEST(CreateObject, TellsWhenTheLastOfItsRequestsWasSent) {
  TestWorld world;
  follow(world, {{{kPut, 0}, answer_lost()}});
  world.run([](const Env& env) {
    const Time before = env.clock.now();
    const auto outcome =
        create_object(env, "key", make_blob("own"), Purpose::kHeartbeat, RetryConfig{});
    EXPECT_GE(outcome->last_sent, before + seconds(5));
    EXPECT_LT(outcome->last_sent, env.clock.now());
  });
}

}  // namespace
}  // namespace morula::store_test
