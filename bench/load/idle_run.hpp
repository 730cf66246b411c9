// What connections cost that do nothing.
#pragma once

#include <atomic>
#include <cstdint>

#include "bench/load/protocol.hpp"
#include "bench/load/target.hpp"
#include "core/base/result.hpp"

namespace morula::load {

struct IdleOutcome {
  size_t connections = 0;
  uint64_t before_bytes = 0;  // resident set of the server
  uint64_t after_bytes = 0;

  double bytes_per_connection() const {
    return connections == 0 || after_bytes < before_bytes
               ? 0
               : static_cast<double>(after_bytes - before_bytes) / static_cast<double>(connections);
  }
};

/// Opens `count` connections, makes one read on each, lets them rest for a second, and looks at
/// the server's memory before and after. kUnavailable; kInvalid when the server refuses one.
Result<IdleOutcome> run_idle(const Target& target, Protocol& protocol, size_t count, int server_pid,
                             const std::atomic<bool>& stop);

}  // namespace morula::load
