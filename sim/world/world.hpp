// A simulated world: virtual time, processes, and the store and network between them, all decided
// by one seed.
//
// A world has no fault of its own: scenarios (sim/faults, sim/scenario) kill and pause its
// processes and set what becomes of requests (`store().set_fates`, `network().set_fates`).
//
//     World world(seed);
//     Process& a = world.add({.name = "a"}, [](const Env& env) { Instance(env, config).run(); });
//     Process& client = world.add({.name = "client"}, [&](const Env& env) { ... });
//     world.run_for(std::chrono::seconds(60));
//     a.kill();
//
// A process that plays a client is a process like any other: its root function gets an Env whose
// network, clock and randomness are its own. What it records for checks it stamps with
// `world.now()`, the true time, which it must not use for anything else.
//
// A test of one room needs no more than TestWorld (sim/world/test_world.hpp).
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/rt/fiber.hpp"
#include "core/rt/random.hpp"
#include "sim/world/event_queue.hpp"
#include "sim/world/process.hpp"
#include "sim/world/sim_network.hpp"
#include "sim/world/sim_platform.hpp"
#include "sim/world/sim_store.hpp"
#include "sim/world/sim_trace.hpp"

namespace morula::sim {

/// Why a world's run is a failure.
struct Failure {
  std::string rule;    // "invariant 3", "liveness", "error log", ...
  std::string detail;  // for a person: what was seen, and what should have been
  TrueTime at;
};

class World {
 public:
  explicit World(uint64_t seed);
  /// As `end`.
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  TrueTime now() const { return events_.now(); }
  EventQueue& events() { return events_; }
  SimStore& store() { return store_; }
  SimNetwork& network() { return network_; }
  SimTrace& trace() { return trace_; }
  Scheduler& scheduler() { return scheduler_; }
  ProcessTable& process_table() { return process_table_; }
  /// For what the world itself draws: processes, faults, workloads fork from it at set-up.
  Random& random() { return random_; }

  /// Adds a process and starts it.
  Process& add(const ProcessOptions& options, Process::Root root = {});
  std::deque<Process>& processes() { return processes_; }

  /// Runs one fiber until it suspends, or, when none is ready, the next action. False when nothing
  /// is left to happen.
  bool run_one();
  /// Runs until `time`; actions due then have run. Stops early at a failure.
  void run_until(TrueTime time);
  void run_for(Duration duration) { run_until(now() + duration); }
  /// Runs until `done()` is true (true), or until `limit`, a failure, or nothing is left (false).
  bool run_until_true(const std::function<bool()>& done, TrueTime limit);
  /// How often a fiber has been switched to.
  uint64_t switches() const { return switches_; }
  /// Calls `action` before the switch with that number, outside fibers.
  void at_switch(uint64_t number, std::function<void()> action);
  /// Calls `watcher` after each switch, outside fibers, with the address of the domain whose fiber
  /// has run. One watcher; empty: none.
  using SwitchWatcher = std::function<void(const void* domain)>;
  void after_each_switch(SwitchWatcher watcher) { switch_watcher_ = std::move(watcher); }

  /// Kills what is alive, lets every fiber run to its end and drops what was still to happen,
  /// unobserved. Afterwards the world can only be looked at.
  void end();

  /// The first failure counts; the world stops running.
  void fail(std::string rule, std::string detail);
  const std::optional<Failure>& failure() const { return failure_; }

  /// More switches than this without time passing: a livelock, which fails the world.
  static constexpr uint64_t kSwitchesAtOneTimeMax = 1'000'000;
  /// More than this in all: whatever it does, it won't end. Ordinary worlds have some 20,000.
  static constexpr uint64_t kSwitchesMax = 20'000'000;

 private:
  friend class Process;
  void process_changed(const Process& process, std::string_view what);
  void count_switch();
  void run_switch_action();
  void bury();

  EventQueue events_;
  Random random_;
  Random order_;
  Scheduler scheduler_;
  SimTrace trace_;
  SimStore store_;
  SimNetwork network_;
  ProcessTable process_table_;
  std::deque<Process> processes_;
  uint64_t switches_ = 0;
  uint64_t switches_at_now_ = 0;
  TrueTime switches_time_{};
  uint64_t next_action_switch_ = UINT64_MAX;
  std::multimap<uint64_t, std::function<void()>> switch_actions_;
  SwitchWatcher switch_watcher_;
  std::optional<Failure> failure_;
};

}  // namespace morula::sim
