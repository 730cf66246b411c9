// Invariant 15: once the cell is quiet, each instance is asked for its bucket plan, in one world of
// a few.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "sim/scenario/workload.hpp"

namespace morula::sim {

class PlanWorkload final : public Workload {
 public:
  std::string_view name() const override { return "plans"; }
  std::string awaited(Simulation& simulation) override;
  void check(Simulation& simulation) override;

 private:
  void ask(Simulation& simulation);

  bool asking_ = false;
  uint64_t asked_ = 0;                        // how often
  std::map<std::string, std::string> plans_;  // by the instance's address
};

}  // namespace morula::sim
