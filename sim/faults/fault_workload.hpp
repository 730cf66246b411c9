// The faults of the plan, as a part of a scenario. Comes after the workloads whose processes they
// befall.
#pragma once

#include <optional>

#include "sim/faults/process_faults.hpp"
#include "sim/faults/request_faults.hpp"
#include "sim/scenario/workload.hpp"

namespace morula::sim {

class FaultWorkload final : public Workload {
 public:
  std::string_view name() const override { return "faults"; }
  void setup(Simulation& simulation) override {
    requests_.emplace(simulation);
    processes_.emplace(simulation, requests_->links(), requests_->episodes());
  }
  void heal(Simulation& /*simulation*/) override {
    requests_->heal();
    processes_->heal();
  }

 private:
  std::optional<RequestFaults> requests_;
  std::optional<ProcessFaults> processes_;
};

}  // namespace morula::sim
