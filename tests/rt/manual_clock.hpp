// A clock that stands still until a test moves it.
#pragma once

#include <map>
#include <utility>

#include "core/rt/clock.hpp"

namespace morula {

class ManualClock : public Clock {
 public:
  Time now() const override { return now_; }
  WallTime wall() const override { return {now_.time_since_epoch().count() / 1'000'000}; }
  TimerId arm(Time at, TimerAction action, void* argument) override {
    timers_.emplace(std::pair{at, ++last_}, std::pair{action, argument});
    return last_;
  }
  void disarm(TimerId timer) override {
    std::erase_if(timers_, [&](const auto& t) { return t.first.second == timer; });
  }

  /// Fires what is due, in order of time, and leaves the clock `duration` later.
  void advance(Duration duration) {
    const Time until = now_ + duration;
    while (!timers_.empty() && timers_.begin()->first.first <= until) {
      const auto [key, call] = *timers_.begin();
      timers_.erase(timers_.begin());
      now_ = std::max(now_, key.first);
      call.first(call.second);
    }
    now_ = until;
  }
  size_t armed() const { return timers_.size(); }

 private:
  Time now_{};
  TimerId last_ = 0;
  std::map<std::pair<Time, TimerId>, std::pair<TimerAction, void*>> timers_;
};

}  // namespace morula
