#include "sim/world/sim_clock.hpp"

#include <algorithm>

namespace morula::sim {

namespace {

using Wide = __int128;

constexpr int64_t kLongestNs = INT64_MAX / 4;

}  // namespace

MachineClock::MachineClock(const EventQueue& events, Duration offset, WallTime wall_start)
    : events_(events),
      base_true_(events.now()),
      base_local_(Time(offset)),
      wall_base_(base_local_),
      wall_ms_(wall_start.ms) {}

Time MachineClock::now() const {
  Wide elapsed = (events_.now() - base_true_).count();
  return base_local_ + Duration(static_cast<int64_t>(elapsed * rate_.local / rate_.true_time));
}

WallTime MachineClock::wall() const {
  return WallTime{wall_ms_ + (now() - wall_base_).count() / 1'000'000};
}

TrueTime MachineClock::to_true(Time local) const {
  if (local <= base_local_) return base_true_;
  Wide ahead = (local - base_local_).count();
  Wide scaled = (ahead * rate_.true_time + rate_.local - 1) / rate_.local;  // never early
  return base_true_ + Duration(static_cast<int64_t>(std::min<Wide>(scaled, kLongestNs)));
}

Clock::TimerId SimClock::arm(Time at, TimerAction action, void* argument) {
  static constexpr TimerId kNone = ~TimerId{0};
  if (life_.over || at == kNever) return kNone;
  return events_.at(machine_.to_true(at), life_.ears, [this, at, action, argument] {
    if (now() < at) {  // the clock was slowed down meanwhile
      events_.again_at(machine_.to_true(at));
    } else {
      action(argument);
    }
  });
}

void MachineClock::set_rate(ClockRate rate) {
  Time local = now();
  base_true_ = events_.now();
  base_local_ = local;
  rate_ = rate;
}

}  // namespace morula::sim
