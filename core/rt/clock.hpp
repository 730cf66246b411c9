// Time as one process sees it. Clocks of two processes differ in offset, and drift.
#pragma once

#include <cstdint>

#include "core/base/units.hpp"

namespace morula {

class Clock {
 public:
  /// What a timer does when it fires; called outside fibers, on the loop's thread. Must not throw.
  using TimerAction = void (*)(void* argument);
  /// Names an armed timer; never 0.
  using TimerId = uint64_t;

  virtual ~Clock() = default;

  /// Monotonic, and it counts the time in which the process was suspended (CLOCK_BOOTTIME): leases
  /// rely on that.
  virtual Time now() const = 0;
  /// May jump in both directions.
  virtual WallTime wall() const = 0;

  /// Calls `action(argument)` once, not before `at` and never from within `arm`.
  virtual TimerId arm(Time at, TimerAction action, void* argument) = 0;
  /// A timer that has fired or was disarmed is ignored. After it, the action is not called.
  virtual void disarm(TimerId timer) = 0;

  /// Suspends the fiber until `at`. Throws Cancelled.
  void sleep_until(Time at);
  void sleep(Duration duration) { sleep_until(now() + duration); }
};

}  // namespace morula
