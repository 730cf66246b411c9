// What simulated machines know of their processes.
#pragma once

#include <string>
#include <vector>

#include "core/rt/platform.hpp"
#include "sim/world/life.hpp"

namespace morula::sim {

/// All processes of a world that have not ended, by machine.
class ProcessTable {
 public:
  /// Each start gets a pid of its own on its machine; pids of the dead are used again.
  ProcessIdentity enter(uint32_t machine, TrueTime now);
  void leave(const ProcessIdentity& identity);
  bool lives(const ProcessIdentity& identity) const;

 private:
  std::vector<ProcessIdentity> living_;
  uint64_t started_ = 0;
};

class SimPlatform final : public Platform {
 public:
  SimPlatform(const ProcessTable& table, ProcessIdentity self)
      : table_(table), self_(std::move(self)) {}

  ProcessIdentity self() const override { return self_; }
  bool provably_gone(const ProcessIdentity& process) const override {
    return process.boot_id == self_.boot_id && process.pid_namespace == self_.pid_namespace &&
           !table_.lives(process);
  }

 private:
  const ProcessTable& table_;
  ProcessIdentity self_;
};

}  // namespace morula::sim
