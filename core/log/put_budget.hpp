// What keeps a quiet but steady cell from paying for a PUT per record: a token bucket.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/base/check.hpp"
#include "core/base/units.hpp"

namespace morula {

/// `per_second` tokens a second, of which `burst` gather at most; full at the start. 0 per second:
/// unlimited. Never suspends: the caller waits until `next`.
class PutBudget {
 public:
  PutBudget(uint64_t per_second, uint64_t burst, Time now)
      : price_(per_second == 0 ? Duration::zero() : std::max(kSecond / count(per_second), kLeast)),
        saved_max_(price_ * count(burst)),
        saved_(saved_max_),
        at_(now) {
    MORULA_CHECK(per_second == 0 || burst > 0, "a budget without burst never gives a token");
    MORULA_CHECK(burst <= 1'000'000, "a burst is a small number");
  }

  /// When a token is there: `now` or later.
  Time next(Time now) {
    refill(now);
    return saved_ >= price_ ? now : now + (price_ - saved_);
  }
  /// Takes the token that `next` has shown to be there.
  void take(Time now) {
    refill(now);
    MORULA_CHECK(saved_ >= price_);
    saved_ -= price_;
  }

 private:
  static constexpr Duration kSecond = std::chrono::seconds(1);
  static constexpr Duration kLeast{1};
  static constexpr Duration::rep count(uint64_t n) { return static_cast<Duration::rep>(n); }

  void refill(Time now) {
    saved_ = std::min(saved_max_, saved_ + (now - at_));
    at_ = now;
  }

  Duration price_;  // time in which one token gathers
  Duration saved_max_;
  Duration saved_;  // time that has gathered and was not spent
  Time at_;
};

}  // namespace morula
