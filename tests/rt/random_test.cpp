#include "core/rt/random.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <set>

namespace morula {
namespace {

TEST(RandomTest, GivesThePublishedNumbers) {
  // The first outputs of xoshiro256** whose state is splitmix64's first four outputs for seed 0.
  Random random(0);
  EXPECT_EQ(random.next(), 0x99ec5f36cb75f2b4u);
  EXPECT_EQ(random.next(), 0xbf6e1f784956452au);
  EXPECT_EQ(random.next(), 0x1a5f849d4933e6e0u);
}

RC_GTEST_PROP(RandomTest, StaysBelowItsBound, (uint64_t seed, uint64_t drawn)) {
  const uint64_t bound = drawn == 0 ? 1 : drawn;
  Random random(seed);
  for (int i = 0; i < 100; ++i) RC_ASSERT(random.below(bound) < bound);
}

RC_GTEST_PROP(RandomTest, StaysBetweenItsEnds, (uint64_t seed, uint64_t a, uint64_t b)) {
  Random random(seed);
  for (int i = 0; i < 100; ++i) {
    const uint64_t drawn = random.between(std::min(a, b), std::max(a, b));
    RC_ASSERT(drawn >= std::min(a, b));
    RC_ASSERT(drawn <= std::max(a, b));
  }
}

TEST(RandomTest, ReachesBothEndsOfEveryRange) {
  Random random(1);
  std::set<uint64_t> drawn;
  for (int i = 0; i < 200; ++i) drawn.insert(random.between(3, 6));
  EXPECT_EQ(drawn, (std::set<uint64_t>{3, 4, 5, 6}));
  EXPECT_EQ(random.between(7, 7), 7u);
  random.between(0, UINT64_MAX);  // the one range whose length is no uint64_t
}

TEST(RandomTest, IsUniform) {
  // Of 60,000 draws each of 6 faces is due 10,000; five standard deviations are 456.
  Random random(2);
  std::array<int, 6> faces{};
  for (int i = 0; i < 60'000; ++i) ++faces[random.below(6)];
  for (const int count : faces) EXPECT_NEAR(count, 10'000, 456);
}

TEST(RandomTest, HasNoBiasWhereTheBoundIsLarge) {
  // With a bound of 3/4 of all numbers, plain reduction would give the lower third twice the
  // chance.
  Random random(3);
  constexpr uint64_t kBound = 3ULL << 62;
  int lower_third = 0;
  for (int i = 0; i < 30'000; ++i) lower_third += random.below(kBound) < kBound / 3;
  EXPECT_NEAR(lower_third, 10'000, 410);
}

TEST(RandomTest, ChanceIsAFraction) {
  Random random(4);
  int hits = 0;
  for (int i = 0; i < 10'000; ++i) hits += random.chance(1, 4);
  EXPECT_NEAR(hits, 2'500, 217);
  EXPECT_FALSE(random.chance(0, 5));
  EXPECT_TRUE(random.chance(5, 5));
}

TEST(RandomTest, AForkIsIndependentAndRepeatable) {
  Random one(5);
  Random other(5);
  Random fork = one.fork();
  Random same_fork = other.fork();
  EXPECT_EQ(fork.next(), same_fork.next());
  EXPECT_EQ(one.next(), other.next());
  EXPECT_NE(fork.next(), one.next());
}

}  // namespace
}  // namespace morula
