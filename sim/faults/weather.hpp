// When faults happen: they come in storms. A world whose requests fail one by one, evenly, never
// shows what many failures together do, and one that storms all the time never gets anywhere.
#pragma once

#include <cstdint>

#include "core/rt/random.hpp"
#include "sim/world/event_queue.hpp"

namespace morula::sim {

class Weather {
 public:
  explicit Weather(uint64_t seed) : random_(seed) {}

  /// Factor, in quarters, on the rate of request faults at `now`: 0 (calm), 2, 4 (as drawn), 16.
  uint64_t quarters(TrueTime now);

 private:
  Random random_;
  TrueTime until_{};
  uint64_t quarters_ = 4;
};

}  // namespace morula::sim
