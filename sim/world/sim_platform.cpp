#include "sim/world/sim_platform.hpp"

#include <algorithm>

namespace morula::sim {

ProcessIdentity ProcessTable::enter(uint32_t machine, TrueTime now) {
  ProcessIdentity identity;
  identity.boot_id = "boot-" + std::to_string(machine);
  identity.pid_namespace = "pid-namespace-" + std::to_string(machine);
  // 100 ticks per second, as Linux counts.
  identity.start_time = 1000 + static_cast<uint64_t>(now.time_since_epoch().count()) / 10'000'000;
  // Few pids, so that they come again; never twice within a tick.
  static constexpr uint64_t kPids = 16;
  auto taken = [&](uint64_t pid) {
    return std::any_of(living_.begin(), living_.end(), [&](const ProcessIdentity& other) {
      return other.boot_id == identity.boot_id && other.pid == pid;
    });
  };
  do {
    identity.pid = 100 + started_++ % kPids;
  } while (living_.size() < kPids && taken(identity.pid));
  living_.push_back(identity);
  return identity;
}

void ProcessTable::leave(const ProcessIdentity& identity) {
  std::erase(living_, identity);
}

bool ProcessTable::lives(const ProcessIdentity& identity) const {
  return std::find(living_.begin(), living_.end(), identity) != living_.end();
}

}  // namespace morula::sim
