// How leases are timed.
#pragma once

#include <chrono>
#include <cstdint>

#include "core/base/units.hpp"

namespace morula {

struct LeaseConfig {
  Duration heartbeat = std::chrono::seconds(3);  // with other live members
  Duration lease = std::chrono::seconds(12);
  Duration heartbeat_alone = std::chrono::seconds(10);
  Duration lease_alone = std::chrono::seconds(30);
  uint64_t margin_permille = 50;  // of the lease: good for clock rates that differ by 10 %
  Duration watch_interval = std::chrono::seconds(1);  // how often a member looks at the owners
};

}  // namespace morula
