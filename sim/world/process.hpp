// A simulated process: a name, a machine with clocks, and one run after the other.
//
// A run is a Domain, the parts of an Env and the fibers of a root function. A crash ends the run at
// whatever suspension point each fiber stands; `start` begins the next one, at the same address
// with the same clocks, and with nothing else left of the old one but its requests on their way.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/rt/env.hpp"
#include "core/rt/fiber.hpp"
#include "core/rt/random.hpp"
#include "sim/world/life.hpp"
#include "sim/world/sim_clock.hpp"

namespace morula::sim {

class World;

struct ProcessOptions {
  std::string name;
  uint32_t machine = 0;  // processes of one machine can tell that another is gone for good
  Duration clock_offset = std::chrono::seconds(1000);
  ClockRate clock_rate;
  WallTime wall = kWallAtTimeZero;  // at the world's time 0
};

class Process {
 public:
  /// Runs in a fiber. When it returns, the process exits. May be empty: then the process lives
  /// until it is killed and runs what `spawn` gives it.
  using Root = std::function<void(const Env&)>;

  Process(World& world, ProcessId id, const ProcessOptions& options, Root root);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  /// Begins the next run. Must not be alive.
  void start();
  /// A crash, now. Must not be called by a fiber of this process. Ignored when not alive.
  void kill();
  /// Stopped (SIGSTOP): no fiber runs, no timer and no answer arrives; the clocks go on.
  void pause();
  void resume();

  bool alive() const { return current_ != nullptr; }
  bool paused() const;
  const std::string& name() const { return name_; }
  ProcessId id() const { return id_; }
  /// Runs begun.
  uint32_t runs() const { return number_; }
  MachineClock& clock() { return clock_; }
  /// Of the current run. Must be alive.
  const Env& env() const;
  /// Runs `body` in a fiber of the current run. Must be alive.
  void spawn(const char* name, std::function<void(const Env&)> body);

 private:
  friend class World;
  struct Run;

  void end(Run& run);
  /// Kills what is left of exited runs; destroys dead runs whose fibers have ended.
  void bury();

  World& world_;
  ProcessId id_;
  std::string name_;
  uint32_t machine_;
  Root root_;
  Random random_;
  MachineClock clock_;
  uint32_t number_ = 0;
  Run* current_ = nullptr;
  std::vector<std::unique_ptr<Run>> runs_;
};

}  // namespace morula::sim
