// Does anything notice when a rule is broken? For each mutant, seeds are run until an invariant
// fails. Five tries with different seeds; the median counts. A seed that fails without the mutant
// too proves nothing and is not counted.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/mutant.hpp"

namespace morula::sim {

struct MutantOptions {
  std::vector<Mutant> mutants;
  uint64_t seeds_max = 2000;  // per try
  size_t jobs = 1;
  std::string scenario;  // empty: the one that hunts each mutant best
  std::chrono::seconds seed_timeout{120};
  bool examples = false;  // show a seed that catches each mutant
};

/// Prints the table to stdout. Returns the exit code: 0 all caught, 1 one survived.
int run_mutants(const MutantOptions& options);

/// The scenario that hunts this mutant best.
std::string_view hunting_scenario(Mutant mutant);

}  // namespace morula::sim
