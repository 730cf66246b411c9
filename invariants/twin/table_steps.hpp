// The collection of tables, held to Topology: CollectList, CollectReadTopology,
// CollectReadManifests, Collect.
//
// The projection is one table, its writer, and the manifests that name it. Left out: the order in
// which a collector looks, for which the moment of the deletion stands; and a table whose upload is
// not yet part of a swap, which the spec does not have.
#pragma once

#include <string>

#include "invariants/spec/topology.hpp"
#include "invariants/twin/findings.hpp"
#include "invariants/twin/seen_cell.hpp"

namespace morula::invariants::twin {

class TableSteps {
 public:
  TableSteps(SeenCell& cell, Findings& findings) : cell_(cell), findings_(findings), twin_({}) {}

  /// A table of this writer was deleted.
  void collected(const SeenLog& writer, const std::string& key, CollectorId collector);

 private:
  SeenCell& cell_;
  Findings& findings_;
  spec::Topology twin_;
};

}  // namespace morula::invariants::twin
