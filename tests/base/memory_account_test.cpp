// The tree of accounts beside a model that knows only numbers.
#include "core/base/memory_account.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "core/base/memory_budget.hpp"

namespace morula {
namespace {

TEST(MemoryAccount, RefusesWhatDoesNotFitAndSaysWhich) {
  MemoryAccount all("all", 100);
  MemoryAccount part(all, "part", 60);
  auto first = part.try_reserve(50);
  ASSERT_TRUE(first);
  auto second = part.try_reserve(11);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kBusy);
  EXPECT_NE(second.error().message.find("part"), std::string::npos);
  EXPECT_EQ(all.used(), 50u);
  EXPECT_FALSE(all.try_reserve(UINT64_MAX));
  *first = {};
  EXPECT_EQ(all.used(), 0u);
  EXPECT_TRUE(part.try_reserve(60));
}

TEST(MemoryAccount, WhatIsSetAsideIsNobodyElses) {
  MemoryAccount all("all", 100);
  MemoryAccount cache(all, "cache", 100, 30);
  MemoryAccount other(all, "other", 100);
  EXPECT_EQ(all.used(), 0u);
  EXPECT_EQ(all.drawn(), 30u);
  EXPECT_FALSE(other.try_reserve(71));
  const auto most = other.try_reserve(70);
  EXPECT_TRUE(most);
  EXPECT_TRUE(cache.try_reserve(30)) << "its own part was kept for it";
  EXPECT_FALSE(cache.try_reserve(31));
}

TEST(MemoryAccount, AGaugeCountsAndMayLeadOverTheLimit) {
  MemoryAccount all("all", 100);
  MemoryAccount cache(all, "cache", 100, 30);
  uint64_t bytes = 90;
  cache.measure([&] { return bytes; });
  EXPECT_EQ(all.drawn(), 90u);
  EXPECT_FALSE(all.try_reserve(11));
  EXPECT_TRUE(all.try_reserve(10));
  bytes = 120;
  EXPECT_FALSE(all.try_reserve(1));
  cache.measure(nullptr);
  EXPECT_EQ(all.used(), 0u);
}

/// A tree of three levels, as numbers: what each account has of its own.
struct Model {
  static constexpr size_t kAccounts = 5;
  static constexpr std::array<int, kAccounts> kParent = {-1, 0, 0, 1, 1};
  std::array<uint64_t, kAccounts> limit{};
  std::array<uint64_t, kAccounts> set_aside{};
  std::array<uint64_t, kAccounts> own{};

  uint64_t drawn(size_t account) const {
    uint64_t sum = own[account];
    for (size_t i = 0; i < kAccounts; ++i) {
      if (kParent[i] == static_cast<int>(account)) sum += drawn(i);
    }
    return std::max(sum, set_aside[account]);
  }
  /// Whether `account` and all above it would be within their limits; those whose draw does not
  /// change are not asked.
  bool fits(size_t account, uint64_t more) {
    const std::array<uint64_t, kAccounts> before = own;
    std::array<uint64_t, kAccounts> drawn_before{};
    for (size_t i = 0; i < kAccounts; ++i) drawn_before[i] = drawn(i);
    own[account] += more;
    bool fit = true;
    for (int i = static_cast<int>(account); i >= 0; i = kParent[static_cast<size_t>(i)]) {
      const auto at = static_cast<size_t>(i);
      if (drawn(at) > limit[at]) fit = false;
      if (drawn(at) == drawn_before[at]) break;
    }
    own = before;
    return fit;
  }
};

RC_GTEST_PROP(MemoryAccount, BehavesLikeItsModel, ()) {
  Model model;
  std::vector<std::unique_ptr<MemoryAccount>> accounts;
  for (size_t i = 0; i < Model::kAccounts; ++i) {
    model.limit[i] = *rc::gen::inRange<uint64_t>(20, 200);
    if (Model::kParent[i] < 0) {
      accounts.push_back(std::make_unique<MemoryAccount>("root", model.limit[i]));
      continue;
    }
    model.set_aside[i] = *rc::gen::inRange<uint64_t>(0, 20);
    accounts.push_back(
        std::make_unique<MemoryAccount>(*accounts[static_cast<size_t>(Model::kParent[i])], "part",
                                        model.limit[i], model.set_aside[i]));
  }
  struct Held {
    size_t account;
    MemoryReservation reservation;
  };
  std::vector<Held> held;
  const auto steps = *rc::gen::inRange(0, 60);
  for (int step = 0; step < steps; ++step) {
    const auto what = *rc::gen::inRange(0, 4);
    const auto bytes = *rc::gen::inRange<uint64_t>(1, 60);
    if (what == 0 || held.empty()) {
      const auto at = *rc::gen::inRange<size_t>(0, Model::kAccounts);
      auto reserved = accounts[at]->try_reserve(bytes);
      RC_ASSERT(reserved.has_value() == model.fits(at, bytes));
      if (!reserved) continue;
      model.own[at] += bytes;
      held.push_back({at, std::move(*reserved)});
    } else {
      const auto which = *rc::gen::inRange<size_t>(0, held.size());
      Held& one = held[which];
      const uint64_t before = one.reservation.bytes();
      if (what == 1) {
        const bool fits = bytes <= before || model.fits(one.account, bytes - before);
        RC_ASSERT(one.reservation.try_resize(bytes).has_value() == fits);
        if (fits) model.own[one.account] += bytes - before;
        RC_ASSERT(one.reservation.bytes() == (fits ? bytes : before));
      } else if (what == 2) {
        one.reservation.resize(bytes);
        model.own[one.account] += bytes - before;
      } else {
        model.own[one.account] -= before;
        held.erase(held.begin() + static_cast<std::ptrdiff_t>(which));
      }
    }
    for (size_t i = 0; i < Model::kAccounts; ++i) {
      RC_ASSERT(accounts[i]->drawn() == model.drawn(i));
    }
  }
  held.clear();
  RC_ASSERT(accounts[0]->used() == 0u);
  while (!accounts.empty()) accounts.pop_back();
}

MemoryShares shares_with(uint64_t left) {
  MemoryShares shares;
  shares.limit = shares.set_aside() + left;
  return shares;
}

TEST(MemoryBudget, NeitherBodiesNorReadsCanTakeAllThatIsLeft) {
  MemoryBudget budget(shares_with(8000));
  const auto bodies = budget.reserve_body(3000);  // and as much again in the log
  ASSERT_TRUE(bodies);
  const auto more = budget.reserve_body(1);
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().code, ErrorCode::kBusy);
  EXPECT_EQ(more.error().retry_after_ms, 1000);
  EXPECT_TRUE(budget.reserve_read(1000));
  EXPECT_FALSE(budget.reserve_read(1001));
  EXPECT_EQ(budget.refusals(MemoryRefusal::kAppendMemoryBusy), 1u);
  EXPECT_EQ(budget.refusals(MemoryRefusal::kReadMemoryBusy), 1u);
}

TEST(MemoryBudget, AProcessThatIsTooLargeRefusesBodiesFirstAndSmallReadsLast) {
  MemoryBudget budget(MemoryShares{});
  const uint64_t limit = budget.memory.limit();
  budget.note_resident(limit);
  EXPECT_TRUE(budget.reserve_body(1));
  budget.note_resident(limit + 1);
  const auto shed = budget.reserve_body(1);
  ASSERT_FALSE(shed);
  EXPECT_EQ(shed.error().code, ErrorCode::kShed);
  EXPECT_FALSE(budget.reserve_read(kMiB));
  EXPECT_TRUE(budget.reserve_read(1000));
  EXPECT_TRUE(budget.reserve_body(0)) << "a delete has no body";
  budget.note_resident(limit + limit / 8);
  EXPECT_FALSE(budget.reserve_read(1000));
  EXPECT_EQ(budget.refusals(MemoryRefusal::kRssShed), 3u);
  budget.note_resident(0);
  EXPECT_TRUE(budget.reserve_body(1));
}

}  // namespace
}  // namespace morula
