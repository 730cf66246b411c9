// The process of one instance, with what a host does for it: after an incarnation that had to stop
// it starts the next one; after an error it waits a little first.
#pragma once

#include <string>

#include "core/cell/config.hpp"
#include "sim/world/world.hpp"

namespace morula {
class Instance;
}

namespace morula::sim {

class InstanceHost {
 public:
  InstanceHost(World& world, const ProcessOptions& options, InstanceConfig config);

  Process& process() { return *process_; }
  /// Starts the process if it is dead, resumes it if it is paused.
  void revive();
  /// A graceful stop, after which the process exits. Ignored when there is no instance.
  void request_stop();
  /// Has an instance that says it is ready.
  bool ready() const;
  /// Why the last incarnation that failed did; empty when none has since the last success.
  const std::string& last_error() const { return last_error_; }

 private:
  void run(const Env& env);

  InstanceConfig config_;
  Instance* instance_ = nullptr;
  std::string last_error_;
  Process* process_;
};

}  // namespace morula::sim
