// Owners of old: a cell whose shards were owned by incarnations that have all stopped, each by one
// of its own. Whoever starts now takes them over, so that several instances own some each, which a
// new cell, created by one of them, does not show.
#pragma once

#include "sim/scenario/workload.hpp"

namespace morula::sim {

class GhostWorkload final : public Workload {
 public:
  std::string_view name() const override { return "ghosts"; }
  void setup(Simulation& simulation) override;
};

}  // namespace morula::sim
