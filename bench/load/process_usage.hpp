// What processes use, as /proc tells.
#pragma once

#include <cstdint>
#include <optional>

namespace morula::load {

struct ProcessUsage {
  uint64_t user_us = 0;
  uint64_t system_us = 0;
  uint64_t resident_bytes = 0;
};

/// nullopt when there is no such process.
std::optional<ProcessUsage> usage_of(int pid);

/// The process of this user that listens on a TCP port of this machine; nullopt when there is none
/// that may be seen.
std::optional<int> listener_of(uint16_t port);

}  // namespace morula::load
