// How long simulated things take: integer tables, because the same seed must draw the same time on
// every processor.
#pragma once

#include <cstddef>

#include "core/base/units.hpp"

namespace morula {
class Random;
}

namespace morula::sim {

/// Kinds of stores by speed: 0 a local directory, 1 a near object store, 2 a far one.
inline constexpr size_t kStoreSpeeds = 3;

/// One way of a request to the store, or back.
Duration draw_store_latency(Random& random, size_t speed);
/// One way between two processes.
Duration draw_network_latency(Random& random);
/// A tail: 0.2 to 20 seconds, mostly short.
Duration draw_tail(Random& random);
/// How long after its first landing, or after being sent, a stray request lands: 0.1 to 60 seconds.
Duration draw_stray(Random& random);

}  // namespace morula::sim
