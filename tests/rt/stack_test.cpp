// Stacks: how many, how deep, and what they cost when idle.
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "core/rt/stack_pool.hpp"
#include "tests/rt/fiber_fixture.hpp"

namespace morula {
namespace {

using StackTest = FiberTest;

/// Uses about `bytes` of stack.
[[gnu::noinline]] uint64_t dig(size_t bytes) {
  volatile char frame[1024];
  std::memset(const_cast<char*>(frame), 1, sizeof(frame));
  const uint64_t below = bytes > sizeof(frame) ? dig(bytes - sizeof(frame)) : 0;
  return below + static_cast<uint64_t>(frame[0]);
}

TEST_F(StackTest, SixteenThousandFibersLiveAtOnceAndOneMoreIsRefused) {
  WaitList list;
  for (size_t i = 0; i < StackPool::kStacksMax; ++i) {
    scope_.spawn("parked", [&] { list.wait(); });
  }
  run();
  EXPECT_EQ(scope_.live(), StackPool::kStacksMax);
  EXPECT_EQ(StackPool::of_this_thread().in_use(), StackPool::kStacksMax);
  EXPECT_DEATH(scope_.spawn("one too many", [] {}), "too many fibers live at once");
  list.wake_all();
  run();
  EXPECT_EQ(scope_.live(), 0u);
  EXPECT_EQ(StackPool::of_this_thread().in_use(), 0u);
}

TEST_F(StackTest, MostOfAStackIsUsable) {
  scope_.spawn("deep", [&] { dig(sanitizer::kEnabled ? 64 * 1024 : 56 * 1024); });
  run();
}

TEST_F(StackTest, AnOverflowMeetsTheGuardPage) {
  const auto overflow = [&] {
    scope_.spawn("bottomless", [] { dig(1'000'000'000); });
    run();
  };
  EXPECT_DEATH(overflow(), "");
}

TEST_F(StackTest, ABodyTooLargeForAStackIsRefused) {
  struct Large {
    char bytes[StackPool::kStackBytes / 2] = {};
    void operator()() const {}
  };
  const auto large = std::make_unique<Large>();
  EXPECT_DEATH(scope_.spawn("large", *large), "too large to start a fiber with");
}

TEST(StackPoolTest, ReturnsTheStackThatWasGivenBackLast) {
  StackPool pool;
  std::byte* first = pool.acquire();
  std::byte* second = pool.acquire();
  EXPECT_NE(first, second);
  EXPECT_EQ(pool.in_use(), 2u);
  pool.release(first);
  EXPECT_EQ(pool.acquire(), first);
  pool.release(second);
  pool.release(first);
  EXPECT_EQ(pool.in_use(), 0u);
}

#ifndef MORULA_ADDRESS_SANITIZER  // its shadow memory would count
int64_t resident_bytes() {
  long long total = 0;
  long long resident = 0;
  std::FILE* statm = std::fopen("/proc/self/statm", "r");
  const int read = std::fscanf(statm, "%lld %lld", &total, &resident);
  std::fclose(statm);
  return read == 2 ? resident * sysconf(_SC_PAGESIZE) : -1;
}

TEST(StackPoolTest, KeepsLittleMemoryOfManyDeepStacksThatAreIdle) {
  constexpr size_t kStacks = 4 * StackPool::kWarmStacks;
  constexpr size_t kDepth = 48 * 1024;
  StackPool pool;
  std::vector<std::byte*> stacks;
  const int64_t before = resident_bytes();
  for (size_t i = 0; i < kStacks; ++i) {
    stacks.push_back(pool.acquire());
    std::memset(stacks.back() + StackPool::kStackBytes - kDepth, 1, kDepth);
  }
  EXPECT_GT(resident_bytes() - before, static_cast<int64_t>(kStacks * kDepth) * 9 / 10);
  for (std::byte* stack : stacks) pool.release(stack);
  EXPECT_LT(resident_bytes() - before,
            static_cast<int64_t>(StackPool::kWarmStacks * kDepth) * 11 / 10);
}
#endif

}  // namespace
}  // namespace morula
