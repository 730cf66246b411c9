// Long pure computations (building a table, checking a large one) away from the loop.
#pragma once

#include <functional>

namespace morula {

class Compute {
 public:
  virtual ~Compute() = default;

  /// Runs `work` on another thread in production, and inline with a modelled cost in simulation;
  /// suspends until it is done. `work` touches nothing that others change meanwhile, throws
  /// nothing, suspends nowhere. The wait can't be cancelled: the caller's stack holds what `work`
  /// uses.
  virtual void run(const std::function<void()>& work) = 0;
};

}  // namespace morula
