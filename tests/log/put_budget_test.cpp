#include "core/log/put_budget.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <vector>

namespace morula {
namespace {

using std::chrono::milliseconds;

const Time kStart{std::chrono::hours(3)};

TEST(PutBudget, GivesItsBurstAtOnceAndThenAtItsRate) {
  PutBudget budget(10, 3, kStart);
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(budget.next(kStart), kStart);
    budget.take(kStart);
  }
  EXPECT_EQ(budget.next(kStart), kStart + milliseconds(100));
  EXPECT_EQ(budget.next(kStart + milliseconds(40)), kStart + milliseconds(100));
  budget.take(kStart + milliseconds(100));
  EXPECT_EQ(budget.next(kStart + milliseconds(100)), kStart + milliseconds(200));
}

TEST(PutBudget, ALongPauseGathersNoMoreThanTheBurst) {
  PutBudget budget(10, 2, kStart);
  const Time later = kStart + std::chrono::hours(24 * 365);
  budget.take(later);
  budget.take(later);
  EXPECT_EQ(budget.next(later), later + milliseconds(100));
}

TEST(PutBudget, ZeroIsUnlimited) {
  PutBudget budget(0, 0, kStart);
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(budget.next(kStart), kStart);
    budget.take(kStart);
  }
}

RC_GTEST_PROP(PutBudget, GivesInNoIntervalMoreThanItsBurstAndItsRate, ()) {
  const auto per_second = *rc::gen::inRange<uint64_t>(1, 2000);
  const auto burst = *rc::gen::inRange<uint64_t>(1, 20);
  PutBudget budget(per_second, burst, kStart);
  std::vector<Time> taken;
  Time now = kStart;
  for (const int pause : *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 50'000))) {
    now += std::chrono::microseconds(pause);
    now = budget.next(now);
    budget.take(now);
    taken.push_back(now);
  }
  for (size_t i = 0; i < taken.size(); ++i) {
    for (size_t j = i; j < taken.size(); ++j) {
      const auto interval = static_cast<uint64_t>((taken[j] - taken[i]).count());
      RC_ASSERT(j - i + 1 <= burst + 1 + interval * per_second / 1'000'000'000);
    }
  }
}

}  // namespace
}  // namespace morula
