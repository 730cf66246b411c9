// A part of a scenario: the cell's instances, the clients that use it, the faults that befall it,
// the checks. Scenarios are lists of workloads that know nothing of each other.
//
// The phases of a seed, in virtual time:
//   set up    `setup` of all workloads, in order: they add processes and observers
//   active    `plan().active` long: clients work, faults happen
//   healing   `heal` of all: faults end, what is dead or paused comes back, clients finish
//   settled   once every workload says so; past `plan().settle_max` the seed has failed (liveness)
//   checked   `check` of all
#pragma once

#include <string>
#include <string_view>

namespace morula::sim {

class Simulation;

class Workload {
 public:
  virtual ~Workload() = default;

  virtual std::string_view name() const = 0;
  virtual void setup(Simulation& /*simulation*/) {}
  /// The active phase is over.
  virtual void heal(Simulation& /*simulation*/) {}
  /// Empty when nothing more needs to happen; otherwise what is still awaited, for a person.
  virtual std::string awaited(Simulation& /*simulation*/) { return {}; }
  /// Time has stopped. Reports what is wrong by `simulation.world().fail`.
  virtual void check(Simulation& /*simulation*/) {}
  /// Client operations that were answered, for the report.
  virtual uint64_t operations() const { return 0; }
};

}  // namespace morula::sim
