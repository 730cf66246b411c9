// The instances of the cell. Awaits, after healing, that each is ready.
#pragma once

#include "sim/scenario/workload.hpp"

namespace morula::sim {

class CellWorkload final : public Workload {
 public:
  std::string_view name() const override { return "cell"; }
  void setup(Simulation& simulation) override;
  std::string awaited(Simulation& simulation) override;
};

}  // namespace morula::sim
