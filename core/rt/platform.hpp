// What the machine knows of processes.
#pragma once

#include <cstdint>
#include <string>

namespace morula {

/// Names one process for good: a pid alone is reused.
struct ProcessIdentity {
  std::string boot_id;        // of the kernel's current boot
  std::string pid_namespace;  // pids of other namespaces say nothing here
  uint64_t pid = 0;
  uint64_t start_time = 0;  // in clock ticks since boot

  friend bool operator==(const ProcessIdentity&, const ProcessIdentity&) = default;
};

class Platform {
 public:
  virtual ~Platform() = default;

  virtual ProcessIdentity self() const = 0;
  /// True only when that process can never run again: same boot, same pid namespace, and no process
  /// with its pid and start time is left. "Don't know" is false. A stopped process is not gone.
  virtual bool provably_gone(const ProcessIdentity& process) const = 0;
};

}  // namespace morula
