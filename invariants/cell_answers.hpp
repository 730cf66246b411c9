// Invariant 16: what an answer to a split, merge or move says is so in the version of the topology
// that it names, and came with that version if the answer says that something has changed.
#pragma once

#include <map>
#include <string>

#include "core/api/cell_steps.hpp"
#include "core/topology/topology.hpp"

namespace morula::invariants {

class CellAnswers {
 public:
  /// A topology was written.
  void written(Topology topology);
  /// What is wrong with the answer to `step`; empty: nothing.
  std::string wrong_with(const CellStep& step, const Changed& answer) const;

 private:
  std::map<Version, Topology> topologies_;  // all that there were
};

}  // namespace morula::invariants
