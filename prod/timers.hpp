// Timers by due time, and one timerfd of the kernel that rings for the earliest. On CLOCK_BOOTTIME,
// which counts suspended time.
#pragma once

#include <map>
#include <unordered_map>
#include <utility>

#include "core/rt/clock.hpp"
#include "prod/posix_file.hpp"

namespace morula {

class Timers {
 public:
  Timers();

  Clock::TimerId arm(Time at, Clock::TimerAction action, void* argument);
  void disarm(Clock::TimerId id);
  /// Calls what is due by `now`, in the order of due times.
  void fire_due(Time now);

  /// Readable once the alarm has rung.
  int fd() const { return fd_.get(); }
  /// Before waiting: makes the alarm ring in time for the earliest timer. It may ring too early.
  void set_alarm(Time now);
  /// The alarm has rung.
  void rang();

 private:
  using Key = std::pair<Time, Clock::TimerId>;
  struct Action {
    Clock::TimerAction call;
    void* argument;
  };

  UniqueFd fd_;
  std::map<Key, Action> due_;
  std::unordered_map<Clock::TimerId, Time> times_;
  Clock::TimerId last_id_ = 0;
  Time alarm_ = kNever;
};

}  // namespace morula
