// Rates of clocks that differ, within a bound.
#pragma once

#include "core/rt/random.hpp"
#include "sim/world/sim_clock.hpp"

namespace morula::sim {

/// Within 1 +- `permille_max` thousandths, the ends included and likely.
inline ClockRate draw_clock_rate(Random& random, uint64_t permille_max) {
  const auto bound = static_cast<int64_t>(permille_max);
  int64_t off = 0;
  switch (random.below(4)) {
    case 0:
      off = bound;
      break;
    case 1:
      off = -bound;
      break;
    case 2:
      off = static_cast<int64_t>(random.below(2 * permille_max + 1)) - bound;
      break;
    default:
      break;
  }
  return {1000 + off, 1000};
}

}  // namespace morula::sim
