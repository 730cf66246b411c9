// Which scenario hunts which mutant: measured, not guessed.
#include "sim/sweep/mutants.hpp"

namespace morula::sim {

std::string_view hunting_scenario(Mutant mutant) {
  switch (mutant) {
    default:
      return "default";
  }
}

}  // namespace morula::sim
