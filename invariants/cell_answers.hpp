// Invariant 16: what an answer to a split, merge or move says is so in the version of the topology
// that it names, and was not so all the time since the question if the answer says that something
// has changed.
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
  /// Of the topology that was written last; 0: none was.
  Version latest() const;
  /// What is wrong with the answer to `step`, which was asked for when `asked_at` was the latest;
  /// empty: nothing.
  std::string wrong_with(const CellStep& step, const Changed& answer, Version asked_at) const;

 private:
  std::map<Version, Topology> topologies_;  // all that there were
};

}  // namespace morula::invariants
