// What a seed draws before its world begins: the cell's size and configuration, the store's
// manners, and which faults exist (swarm testing: a world that has every fault at once is too noisy
// to reach what a few of them can do together).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/cell/config.hpp"
#include "core/rt/random.hpp"
#include "sim/clients/operator_habits.hpp"
#include "sim/faults/fault.hpp"
#include "sim/scenario/instance_host.hpp"
#include "sim/world/sim_clock.hpp"
#include "sim/world/sim_disk.hpp"
#include "sim/world/sim_store.hpp"

namespace morula::sim {

struct Plan {
  uint32_t instances = 3;
  uint32_t clients = 8;
  uint8_t ghost_bits = 0;    // the cell has 2^bits shards whose owners have stopped; 0: is new
  bool one_machine = false;  // the instances can tell when one of them is provably gone
  /// How long a dead instance stays down at most, while faults happen.
  Duration downtime_max = std::chrono::seconds(20);
  /// Clients delete streams often, not just now and then.
  bool clients_delete = false;
  OperatorHabits operators;
  /// Requests to the store about ownership take so much longer.
  Duration ownership_delay{};
  /// Each append and read of a stream is to be answered within it, and served; 0: no such bound.
  Duration answer_within{};
  Duration active = std::chrono::seconds(60);
  Duration settle_max = std::chrono::seconds(600);
  /// Mean pause of a client between two operations.
  Duration client_pause = std::chrono::milliseconds(250);
  uint32_t streams = 6;               // that clients share
  uint32_t mortal_percent = 0;        // of the streams: they have a TTL or a time of expiry
  uint64_t wall_error_max_ms = 4000;  // wall clocks of instances differ by so much at most
  InstanceConfig instance;            // of each; `name` is filled in
  HostMemory memory;                  // of each
  StoreManners manners;
  SimDiskManners disk;     // of each instance's block cache
  size_t store_speed = 1;  // see sim/faults/latency.hpp
  FaultNumbers faults;     // per mille of requests, or hundredths of events per active phase
  uint64_t clock_rate_permille = 45;  // clocks run at most so much fast or slow
  /// What the leases' margin of a twentieth is good for.
  bool clocks_within_bound() const { return clock_rate_permille < 50; }

  /// "i1", "i2", ...
  std::string instance_name(uint32_t index) const { return "i" + std::to_string(index + 1); }
  std::string client_name(uint32_t index) const { return "c" + std::to_string(index + 1); }
};

/// In one line, for traces.
std::string describe(const Plan& plan);

/// The swarm: sizes, configuration and faults of an ordinary seed.
Plan draw_plan(Random& random);

}  // namespace morula::sim
