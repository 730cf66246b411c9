// One seed of one scenario, from set-up to verdict.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/faults/fault.hpp"
#include "sim/faults/fault_steps.hpp"
#include "sim/scenario/instance_host.hpp"
#include "sim/scenario/plan.hpp"
#include "sim/scenario/workload.hpp"
#include "sim/world/world.hpp"

namespace morula::sim {

struct Scenario;

/// What a seed's run has shown.
struct SeedReport {
  std::string scenario;
  uint64_t seed = 0;
  std::optional<Failure> failure;
  bool failure_is_expected = false;  // the scenario is there to show it
  uint64_t hash = 0;
  Duration virtual_time{};
  uint64_t operations = 0;  // of clients
  uint64_t switches = 0;
  uint64_t store_requests = 0;
  std::map<std::string, uint64_t> purposes;  // store requests by what they were for
  uint64_t calls = 0;
  FaultNumbers faults;  // how often each happened
  std::map<std::string, uint64_t> steps;
  std::map<std::string, uint64_t> pairs;  // of fault and step, see FaultSteps
  std::map<std::string, bool> places;

  bool held() const { return !failure || failure_is_expected; }
};

class Simulation {
 public:
  Simulation(const Scenario& scenario, uint64_t seed);
  /// A world whose plan is not drawn. `scenario` has only its name and what it may break.
  Simulation(const Scenario& scenario, uint64_t seed, Plan plan,
             std::vector<std::unique_ptr<Workload>> workloads);
  ~Simulation();
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  /// Runs all phases.
  SeedReport run();

  World& world() { return *world_; }
  const Plan& plan() const { return plan_; }
  const Scenario& scenario() const { return scenario_; }
  uint64_t seed() const { return seed_; }
  /// Faults happen and clients go on; false once healing has begun.
  bool active() const { return active_; }
  /// Healing begins now, not only when the active phase has lasted as long as planned.
  void end_active() { enough_ = true; }
  /// Addresses of all instances, in order.
  const std::vector<std::string>& addresses() const { return addresses_; }
  /// The instances, in order, once the workload `cell` has been set up.
  std::deque<InstanceHost>& hosts() { return hosts_; }
  /// Counts a fault that happened.
  void happened(Fault fault) { ++counts_[fault]; }
  FaultNumbers& counts() { return counts_; }
  /// Told of faults that meet steps.
  FaultSteps& fault_steps() { return *fault_steps_; }

 private:
  void begin();
  void settle();
  SeedReport report() const;

  const Scenario& scenario_;
  const uint64_t seed_;
  std::unique_ptr<World> world_;
  Plan plan_;
  std::vector<std::string> addresses_;
  std::deque<InstanceHost> hosts_;
  bool active_ = true;
  bool enough_ = false;
  FaultNumbers counts_;
  std::optional<FaultSteps> fault_steps_;
  std::vector<std::unique_ptr<Workload>> workloads_;
};

}  // namespace morula::sim
