// Rule 11: no instance ever accounts for more than its limit, and what was reserved for requests is
// given back when they have ended.
#pragma once

#include "sim/scenario/workload.hpp"

namespace morula::sim {

class MemoryWorkload final : public Workload {
 public:
  std::string_view name() const override { return "memory"; }
  std::string awaited(Simulation& simulation) override;
  void check(Simulation& simulation) override;

 private:
  int looks_ = 0;  // since healing began
};

}  // namespace morula::sim
