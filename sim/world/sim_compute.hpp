// Compute of a simulated process: inline, at a modelled cost.
#pragma once

#include "core/rt/clock.hpp"
#include "core/rt/compute.hpp"
#include "core/rt/fiber.hpp"
#include "core/rt/random.hpp"
#include "sim/world/life.hpp"

namespace morula::sim {

class SimCompute final : public Compute {
 public:
  SimCompute(const Life& life, Clock& clock, Random& random)
      : life_(life), clock_(clock), random_(random) {}

  /// Takes 20 to 2,000 us of the process's time. `work` runs at the beginning or at the end of
  /// that, so that code which changes its inputs meanwhile is found out.
  void run(const std::function<void()>& work) override;

 private:
  const Life& life_;
  Clock& clock_;
  Random& random_;
};

}  // namespace morula::sim
