// Every swap of a manifest, held to the specs: Seal; Flush to OwnershipLog, which knows what is
// acknowledged, and to Topology, which has tables and clips; Compact to Topology; LandManifest.
//
// The projection is the one shard, as the whole of a hash space of one point, and the log of who
// swaps. A swap on a base that has passed, or of a manifest that the topology no longer names, is
// left out. So is
//   - what the tables hold: a flush has logged rows, and one new table for all of its own; a
//     compaction's tables count for the whole shard, and the mark may be higher than the spec's;
//   - what became of the log between a flush's position and its swap: the spec flushes at the
//     acknowledged position, and that it was acknowledged once is enough;
//   - a flush that moves no position.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "invariants/spec/ownership_log.hpp"
#include "invariants/spec/topology.hpp"
#include "invariants/twin/findings.hpp"
#include "invariants/twin/said_steps.hpp"
#include "invariants/twin/seen_cell.hpp"

namespace morula::invariants::twin {

class ManifestSteps {
 public:
  ManifestSteps(SeenCell& cell, Findings& findings, SaidSteps& said);

  /// A swap is sent, and can land.
  void sent(SeenLog& by, const std::string& key, const std::shared_ptr<const Manifest>& next);
  /// The key, of a manifest of this shard, now holds this.
  void landed(const std::string& key, Prefix shard, const std::shared_ptr<const Manifest>& now);

 private:
  /// One swap on its way through the specs.
  struct Swap {
    const SeenLog& by;
    const TopologyShard& row;
    const Manifest& now;
    const Manifest& next;
    std::string what() const;
  };

  void Seal(const Swap& swap);
  void Flush(const Swap& swap);
  void flush_tables(const Swap& swap);
  void Compact(const Swap& swap);
  spec::TopologyState project(const Swap& swap, uint64_t base) const;
  void compare(const Swap& swap, const spec::Topology::Step& step,
               const spec::TopologyState& before);

  SeenCell& cell_;
  Findings& findings_;
  SaidSteps& said_;
  spec::OwnershipLog log_twin_;
  spec::Topology twin_;
};

}  // namespace morula::invariants::twin
