// Bad days of a store, drawn: what property tests of conditional puts and of the log run in.
#pragma once

#include <memory>

#include "core/rt/random.hpp"
#include "sim/world/sim_store.hpp"

namespace morula::log_test {

/// Each fault comes once in so many requests; 0: never.
struct Weather {
  uint64_t lost = 0;         // on its way there
  uint64_t unanswered = 0;   // carried out
  uint64_t late = 0;         // lands after its sender has given it up
  uint64_t twice = 0;        // lands, and again later
  uint64_t conflict = 0;     // refused as concurrent
  uint64_t throttled = 0;    // refused
  uint64_t unavailable = 0;  // an error, carried out or not
  uint64_t flipped = 0;      // a get with a flipped bit
  uint64_t slow = 0;         // much later than usual

  static Weather draw(Random& random) {
    const auto sometimes = [&] { return random.chance(1, 2) ? random.between(3, 30) : 0; };
    return {sometimes(), sometimes(), sometimes(), sometimes(), sometimes(),
            sometimes(), sometimes(), sometimes(), sometimes()};
  }
};

/// The fates of requests in `weather`.
inline sim::SimStore::Fates fates_in(const Weather& weather, uint64_t seed) {
  return [weather, random = std::make_shared<Random>(seed)](const sim::StoreRequest&) {
    Random& draw = *random;
    const auto happens = [&](uint64_t once_in) { return once_in > 0 && draw.below(once_in) == 0; };
    const auto span = [&](uint64_t low_ms, uint64_t high_ms) {
      return Duration(std::chrono::microseconds(draw.between(low_ms * 1000, high_ms * 1000)));
    };
    sim::StoreFate fate;
    fate.to_store = span(1, 20);
    fate.to_caller = span(1, 20);
    if (happens(weather.slow)) fate.to_store = span(20, 400);
    if (happens(weather.late)) fate.to_store = span(400, 4000);
    if (happens(weather.twice)) fate.lands_again = span(1, 4000);
    if (happens(weather.conflict)) fate.refused = ErrorCode::kConflict;
    if (happens(weather.throttled)) {
      fate.refused = ErrorCode::kThrottled;
      fate.lands_again.reset();  // a throttled request is certain to have done nothing
    }
    if (happens(weather.unavailable)) {
      (draw.chance(1, 2) ? fate.refused : fate.spoiled) = ErrorCode::kUnavailable;
    }
    if (happens(weather.flipped)) fate.flips_bit = true;
    if (happens(weather.unanswered)) fate.answered = false;
    if (happens(weather.lost)) fate.lands = false;
    return fate;
  };
}

}  // namespace morula::log_test
