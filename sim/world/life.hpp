// One run of a simulated process, as the parts of its Env see it.
#pragma once

#include <cstdint>

#include "sim/world/event_queue.hpp"

namespace morula::sim {

/// Number of a process in its world, in order of creation.
using ProcessId = uint32_t;

/// From start to crash or exit. A restarted process gets a new one. Lives as long as the world.
struct Life {
  ProcessId process = 0;
  uint32_t number = 0;  // 1 for the process's first run
  EventQueue::GateId ears = EventQueue::kAlwaysOpen;
  bool over = false;  // dead: what its fibers still do while they unwind has no effect
};

}  // namespace morula::sim
