#include "core/shard/write_pace.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace morula {
namespace {

constexpr Duration kPatience = std::chrono::seconds(3);
constexpr uint64_t kRate = 64 * kMiB;

TEST(WritePace, PressureGrowsFromTheSoftBoundToTheHardOne) {
  EXPECT_EQ(WritePace::pressure(50, 50, 100), 0u);
  EXPECT_EQ(WritePace::pressure(75, 50, 100), 500u);
  EXPECT_EQ(WritePace::pressure(100, 50, 100), 1000u);
  EXPECT_EQ(WritePace::pressure(UINT64_MAX, 50, 100), 1000u);
}

TEST(WritePace, WritersPassOneBehindTheOther) {
  WritePace pace;
  const Time now{std::chrono::seconds(5)};
  const auto first = pace.book(now, kMiB, 500, kRate, kPatience);
  const auto second = pace.book(now, kMiB, 500, kRate, kPatience);
  ASSERT_TRUE(first && second);
  EXPECT_EQ((*second - *first), (*first - now));
  EXPECT_EQ((*first - now), std::chrono::microseconds(1'000'000 / 64));
}

TEST(WritePace, NobodyIsHeldBackForLongerThanHisPatience) {
  WritePace pace;
  const Time now{std::chrono::seconds(5)};
  uint64_t passed = 0;
  while (const auto turn = pace.book(now, 4 * kMiB, 900, kRate, kPatience)) {
    ASSERT_LE(*turn - now, kPatience);
    ASSERT_LT(++passed, 100u);
  }
  EXPECT_GT(passed, 3u);
  EXPECT_TRUE(pace.book(now + kPatience, 4 * kMiB, 900, kRate, kPatience))
      << "who was refused has booked nothing";
  EXPECT_FALSE(pace.book(now + kPatience, 1, 1000, kRate, kPatience));
}

RC_GTEST_PROP(WritePace, DelaysGrowWithPressureAndSize, ()) {
  const auto pressure = *rc::gen::inRange<uint64_t>(0, 999);
  const auto bytes = *rc::gen::inRange<uint64_t>(1, 4 * kMiB);
  const auto rate = *rc::gen::inRange<uint64_t>(1, 1024 * kMiB);
  const auto delay = [&](uint64_t size, uint64_t at) {
    WritePace pace;
    return *pace.book(Time{}, size, at, rate, Duration::max()) - Time{};
  };
  RC_ASSERT(delay(bytes, 0) == Duration(0));
  RC_ASSERT(delay(bytes, pressure) <= delay(bytes, pressure + 1 > 999 ? 999 : pressure + 1));
  RC_ASSERT(delay(bytes, pressure) <= delay(bytes + kMiB, pressure));
}

}  // namespace
}  // namespace morula
