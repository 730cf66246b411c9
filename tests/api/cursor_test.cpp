#include "core/api/cursor.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/rt/random.hpp"

namespace morula {
namespace {

TEST(Cursor, CountsIntervalsOfTwentySecondsSinceOctober2024) {
  Random random(1);
  EXPECT_EQ(next_cursor(WallTime{1'728'432'000'000}, std::nullopt, random), "0");
  EXPECT_EQ(next_cursor(WallTime{1'728'432'019'999}, std::nullopt, random), "0");
  EXPECT_EQ(next_cursor(WallTime{1'728'432'020'000}, std::nullopt, random), "1");
  EXPECT_EQ(next_cursor(WallTime{0}, std::nullopt, random), "0");
}

TEST(Cursor, WhatIsNoCursorCountsAsNone) {
  Random random(1);
  for (const char* given : {"", "abc", "-1", "1x", "9999999999999999"}) {
    EXPECT_EQ(next_cursor(WallTime{1'728'432'100'000}, given, random), "5") << given;
  }
}

RC_GTEST_PROP(CursorProperty, IsAlwaysAboveTheLastOneButNotByMuch, (uint64_t seed)) {
  Random random(seed);
  const auto last = *rc::gen::inRange<uint64_t>(0, 1'000'000);
  const auto current = *rc::gen::inRange<uint64_t>(0, 1'000'000);
  const WallTime now{1'728'432'000'000 + static_cast<int64_t>(current) * 20'000};
  const uint64_t next = std::stoull(next_cursor(now, std::to_string(last), random));
  RC_ASSERT(next > last);
  RC_ASSERT((last < current ? next == current : next <= last + 180));
}

}  // namespace
}  // namespace morula
