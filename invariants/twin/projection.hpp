// Documents of the cell as values of Topology's state.
//
// Prefixes are what they are: the spec's hash space has as many bits as the cell's. Incarnations,
// tables and manifests get numbers as they come. A log's positions begin at the lowest one that is
// talked about. A manifest that was created has version 0 in the spec, and 1 in the cell.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "core/base/ids.hpp"
#include "core/base/prefix.hpp"
#include "core/lsm/manifest.hpp"
#include "core/topology/topology.hpp"
#include "invariants/spec/topology_state.hpp"

namespace morula::invariants::twin {

class Projection {
 public:
  /// Positions of this log will be asked for from here on, at the lowest. All of them are told
  /// before the first is asked for.
  void begins(const IncarnationId& log, uint64_t seq);
  void begins(const Manifest& manifest);

  spec::TopologyState& state() { return state_; }
  const spec::TopologyState& state() const { return state_; }

  int incarnation(const IncarnationId& id);
  int position(const IncarnationId& log, uint64_t seq) const;
  spec::ClippedManifest manifest(const Manifest& manifest);
  /// Adds it to the state; returns its key there.
  int add(const Manifest& manifest);
  spec::Set<int> logs(const TopologyShard& row);
  spec::PrefixRow row(const TopologyShard& row, int key);
  int table(const std::string& key);

 private:
  spec::TopologyState state_;
  std::map<IncarnationId, int> incarnations_;
  std::map<IncarnationId, uint64_t> bases_;
  std::map<std::string, int> tables_;
};

inline spec::HashPrefix projected(Prefix prefix) {
  return {prefix.length, prefix.bits};
}

/// Entries of one table for the two halves of a prefix count for the whole: to name it once or
/// twice is the same.
spec::Set<spec::ClippedTable> joined(spec::Set<spec::ClippedTable> tables);

/// What differs, in words; empty: nothing. `found`: of the cell, `expected`: of the spec.
std::string difference(const spec::ClippedManifest& found, const spec::ClippedManifest& expected);

}  // namespace morula::invariants::twin
