#include "prod/timers.hpp"

#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>

#include "core/base/check.hpp"

namespace morula {

Timers::Timers() : fd_(::timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC)) {
  MORULA_CHECK(fd_.get() >= 0, "the kernel gives no timer");
}

Clock::TimerId Timers::arm(Time at, Clock::TimerAction action, void* argument) {
  const Clock::TimerId id = ++last_id_;
  due_.emplace(Key{at, id}, Action{action, argument});
  times_.emplace(id, at);
  return id;
}

void Timers::disarm(Clock::TimerId id) {
  const auto found = times_.find(id);
  if (found == times_.end()) return;
  due_.erase(Key{found->second, id});
  times_.erase(found);
}

void Timers::fire_due(Time now) {
  while (!due_.empty() && due_.begin()->first.first <= now) {
    const auto first = due_.begin();
    const Action action = first->second;
    times_.erase(first->first.second);
    due_.erase(first);
    action.call(action.argument);
  }
}

void Timers::set_alarm(Time now) {
  const Time earliest = due_.empty() ? kNever : due_.begin()->first.first;
  // Most timers are disarmed before they are due: an alarm that was set for one of them stays, and
  // is set anew when it rings.
  if (alarm_ <= earliest && alarm_ > now) return;
  alarm_ = earliest;
  itimerspec alarm{};
  if (earliest != kNever) {
    const int64_t at = std::max<int64_t>(earliest.time_since_epoch().count(), 1);
    alarm.it_value = {static_cast<time_t>(at / 1'000'000'000),
                      static_cast<long>(at % 1'000'000'000)};
  }
  MORULA_CHECK(::timerfd_settime(fd_.get(), TFD_TIMER_ABSTIME, &alarm, nullptr) == 0);
}

void Timers::rang() {
  uint64_t expirations = 0;
  (void)!::read(fd_.get(), &expirations, sizeof(expirations));
  alarm_ = Time::min();
}

}  // namespace morula
