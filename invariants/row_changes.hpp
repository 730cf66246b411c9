// What differs between two versions of the topology, by the parts of the hash space that changed.
#pragma once

#include <vector>

#include "core/topology/topology.hpp"

namespace morula::invariants {

/// Rows that went and the rows that came in their place. They point into the two topologies.
struct RowChange {
  std::vector<const TopologyShard*> gone;
  std::vector<const TopologyShard*> come;

  /// Whether both cover the same part of the space.
  bool same_space() const;
};

/// In the order of the space; a part that has not changed has none.
std::vector<RowChange> row_changes(const Topology& before, const Topology& after);

}  // namespace morula::invariants
