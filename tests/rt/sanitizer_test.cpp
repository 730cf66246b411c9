// Under AddressSanitizer: it knows fibers' stacks, finds faults on them and no leaks that are none.
#include "core/rt/sanitizer.hpp"

#ifdef MORULA_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#include <sanitizer/lsan_interface.h>

#include <memory>
#include <stdexcept>

#include "core/rt/stack_pool.hpp"
#include "tests/rt/fiber_fixture.hpp"

namespace morula {
namespace {

using SanitizerTest = FiberTest;

[[gnu::noinline]] int read_at(const volatile int* numbers, size_t index) {
  return numbers[index];
}

[[gnu::noinline]] void overflow_a_local() {
  volatile int numbers[4] = {1, 2, 3, 4};
  yield();
  read_at(numbers, 4);
}

TEST_F(SanitizerTest, FindsAnOverflowOnAFibersStack) {
  const auto overflow = [&] {
    scope_.spawn("child", overflow_a_local);
    run();
  };
  EXPECT_DEATH(overflow(), "stack-buffer-overflow");
}

TEST_F(SanitizerTest, FindsAnOverflowOnAFibersStackAfterExceptionsWereThrownThere) {
  const auto overflow = [&] {
    for (int i = 0; i < 3; ++i) {
      scope_.spawn("child", [i] {
        try {
          yield();
          throw std::runtime_error("thrown");
        } catch (const std::runtime_error&) {
          yield();
        }
        if (i == 2) overflow_a_local();
      });
    }
    run();
  };
  EXPECT_DEATH(overflow(), "stack-buffer-overflow");
}

TEST_F(SanitizerTest, FindsTheUseOfAnEndedFibersStack) {
  const auto use = [&] {
    const volatile int* left = nullptr;
    scope_.spawn("child", [&] {
      volatile int numbers[4] = {1, 2, 3, 4};
      left = numbers;
    });
    run();
    read_at(left, 0);
  };
  EXPECT_DEATH(use(), "use-after-poison");
}

TEST_F(SanitizerTest, ExceptionsOnManyReusedStacksLeaveNothingPoisoned) {
  for (int round = 0; round < 100; ++round) {
    for (int i = 0; i < 10; ++i) {
      scope_.spawn("child", [&, i] {
        volatile char frame[2000];
        frame[i] = 1;
        try {
          yield();
          if (i % 2 == 0) throw std::runtime_error("thrown");
        } catch (const std::runtime_error&) {
          yield();
        }
        frame[1999] = frame[i];
      });
    }
    run();
  }
}

TEST_F(SanitizerTest, WhatOnlyASuspendedFiberHoldsIsNotLeaked) {
  WaitList list;
  scope_.spawn("holder", [&] {
    const auto held = std::make_unique<std::string>(1000, 'x');
    list.wait();
    EXPECT_EQ(held->size(), 1000u);
  });
  run();
  EXPECT_EQ(__lsan_do_recoverable_leak_check(), 0);
  list.wake_one();
  run();
}

TEST_F(SanitizerTest, StacksAreNotFaked) {
  scope_.spawn("child", [] { EXPECT_EQ(__asan_get_current_fake_stack(), nullptr); });
  run();
}

}  // namespace
}  // namespace morula
#endif
