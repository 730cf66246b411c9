// The clocks of one simulated process: monotonic with an offset and a rate, and a wall clock that
// can also be set.
#pragma once

#include <cstdint>

#include "core/rt/clock.hpp"
#include "sim/world/life.hpp"

namespace morula::sim {

/// Local time per true time, as a fraction: {21, 20} runs 5 % fast.
struct ClockRate {
  int64_t local = 1;
  int64_t true_time = 1;
};

/// The clocks of a process's machine: they go on while the process is paused, dead or restarted.
/// What a wall clock that nobody has touched shows at true time 0.
inline constexpr WallTime kWallAtTimeZero{1'800'000'000'000};

class MachineClock {
 public:
  /// Starts at `offset`, at true rate. `wall_start`: what the wall clock shows now.
  MachineClock(const EventQueue& events, Duration offset, WallTime wall_start);

  Time now() const;
  WallTime wall() const;

  /// From now on. Armed timers come no earlier than they should, perhaps later.
  void set_rate(ClockRate rate);
  /// Somebody sets the wall clock.
  void step_wall(int64_t ms) { wall_ms_ += ms; }
  /// When this clock will show `local`, if its rate stays.
  TrueTime to_true(Time local) const;

 private:
  const EventQueue& events_;
  ClockRate rate_;
  TrueTime base_true_;
  Time base_local_;
  Time wall_base_;  // local time at which the wall clock showed `wall_ms_`
  int64_t wall_ms_;
};

/// The Clock of one run of a process.
class SimClock final : public Clock {
 public:
  SimClock(EventQueue& events, const Life& life, const MachineClock& machine)
      : events_(events), life_(life), machine_(machine) {}

  Time now() const override { return machine_.now(); }
  WallTime wall() const override { return machine_.wall(); }
  TimerId arm(Time at, TimerAction action, void* argument) override;
  void disarm(TimerId timer) override { events_.cancel(timer); }

 private:
  EventQueue& events_;
  const Life& life_;
  const MachineClock& machine_;
};

}  // namespace morula::sim
