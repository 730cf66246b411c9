#include <gtest/gtest.h>

#include "core/base/mutant.hpp"
#include "tests/store/conditional_fixture.hpp"

namespace morula::store_test {
namespace {

TEST(SwapObject, ReplacesItsBase) {
  TestWorld world;
  world.store().plant("key", "base");
  expect_landed(world, swap(world));
  EXPECT_EQ(world.store().sent(), 1u);
}

TEST(SwapObject, FindsItselfWhenItsAnswerWasLost) {
  for (const bool etag_is_content : {false, true}) {
    TestWorld world;
    world.store().set_manners({.abilities = {}, .etag_is_content = etag_is_content});
    world.store().plant("key", "base");
    follow(world, {{{kPut, 0}, answer_lost()}});
    expect_landed(world, swap(world));
  }
}

TEST(SwapObject, FindsItselfWhenItLandsOnlyAfterItWasGivenUp) {
  TestWorld world;
  world.store().plant("key", "base");
  follow(world, {{{kPut, 0}, landing_after(milliseconds(5001))}, {{kPut, 1}, request_lost()}});
  expect_landed(world, swap(world));
}

TEST(SwapObject, IsLostToForeignContentWhateverTheStoreTellsTheLoser) {
  for (const uint64_t loser_error_percent : {0, 100}) {
    TestWorld world;
    world.store().set_manners({.abilities = {}, .loser_error_percent = loser_error_percent});
    world.store().plant("key", "base");
    world.store().set_fates([&](const StoreRequest& request) {
      if (request.number == 1) world.store().plant("key", "foreign");
      return StoreFate{};
    });
    expect_lost_to(swap(world), "foreign");
  }
}

TEST(SwapObject, IsLostWhenTheObjectIsGone) {
  TestWorld world;
  const auto outcome = swap(world);
  ASSERT_TRUE(outcome.has_value());
  EXPECT_FALSE(outcome->landed);
  EXPECT_EQ(outcome->body, nullptr);
  EXPECT_EQ(world.store().sent(), 1u);
}

TEST(SwapObject, CountsAsLostWhenItLandedAndWasReplaced) {
  TestWorld world;
  world.store().plant("key", "base");
  follow(world, {{{kPut, 0}, answer_lost()}});
  world.world().events().after(seconds(3), sim::EventQueue::kAlwaysOpen,
                               [&] { world.store().plant("key", "next"); });
  expect_lost_to(swap(world), "next");
}

TEST(SwapObject, GoesOnWhenTheStoreContradictsItself) {
  TestWorld world;
  world.store().plant("key", "base");
  follow(world, {{{kPut, 0}, refused(ErrorCode::kPreconditionFailed)}});
  expect_landed(world, swap(world));
}

TEST(SwapObject, TakesAnUnknownOutcomeForAFailureOnlyAsAMutant) {
  TestWorld world;
  world.store().plant("key", "base");
  follow(world, {{{kPut, 0}, answer_lost()}});
  active_mutant = Mutant::unknown_is_failure;
  const auto outcome = swap(world);
  active_mutant = Mutant::none;
  EXPECT_FALSE(outcome->landed);
  EXPECT_EQ(*world.store().peek("key"), "own");
}

}  // namespace
}  // namespace morula::store_test
