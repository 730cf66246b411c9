// The process of one instance, with what a host does for it: after an incarnation that had to stop
// it starts the next one; after an error it waits a little first.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/base/memory_budget.hpp"
#include "core/cell/config.hpp"
#include "sim/world/sim_disk.hpp"
#include "sim/world/world.hpp"

namespace morula {
class Instance;
}

namespace morula::sim {

/// What each process may take, and takes beside what it accounts for.
struct HostMemory {
  MemoryShares shares;
  uint64_t resident_percent = 100;
};

class InstanceHost {
 public:
  InstanceHost(World& world, const ProcessOptions& options, InstanceConfig config,
               const HostMemory& memory);

  /// The disk of this process's block cache, from its next start on.
  void give_disk(const SimDiskManners& manners, Random random);

  Process& process() { return *process_; }
  const std::string& name() const { return config_.name; }
  /// Starts the process if it is dead, resumes it if it is paused.
  void revive();
  /// Dies now, if it is not dead already, and is not revived any more.
  void retire();
  bool retired() const { return retired_; }
  /// A graceful stop, after which the process exits. Ignored when there is no instance.
  void request_stop();
  /// Has an instance that says it is ready.
  bool ready() const;
  /// Why the last incarnation that failed did; empty when none has since the last success.
  const std::string& last_error() const { return last_error_; }
  /// What is wrong with the accounts of this process, now that no request is under way, or was when
  /// an earlier one ended; empty: nothing.
  std::string memory_trouble() const;

 private:
  class Accounts;
  void run(const Env& env);

  World& world_;
  InstanceConfig config_;
  const HostMemory memory_config_;
  const MemoryBudget* memory_ = nullptr;  // of the process that runs
  std::string memory_trouble_;            // of one that has ended
  std::unique_ptr<SimDisk> disk_;
  Instance* instance_ = nullptr;
  std::string last_error_;
  bool retired_ = false;
  Process* process_;
};

}  // namespace morula::sim
