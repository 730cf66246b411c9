// Every swap of the topology, held to Topology: Adopt, HandOff, Split, Merge, Reopen when it is
// sent, Publish when it lands; and the giver's end of a handoff to OwnershipLog's HandOff, which
// knows what has landed.
//
// The projection of a swap is what it replaces and what comes, with the manifests of both, whole:
// clips, tables, log ranges, marks, epochs, the rows' `logs`. Rows that it leaves alone are left
// out, so a takeover of several shards is an Adopt of each; that they are one owner's is checked
// beside. A swap on a base that has passed can land no more, and is none. Left out:
//   - what the tables hold. So of a split's halves, in which the code does not name a table that
//     has no stream there, those tables are taken for named;
//   - the seals are steps of their own in the code: here the manifests that are replaced have to be
//     sealed by the time of the swap;
//   - Replay: who is named is taken to serve from that moment on;
//   - the first topology, which is the spec's initial state.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "invariants/row_changes.hpp"
#include "invariants/spec/ownership_log.hpp"
#include "invariants/spec/topology.hpp"
#include "invariants/twin/findings.hpp"
#include "invariants/twin/projection.hpp"
#include "invariants/twin/said_steps.hpp"
#include "invariants/twin/seen_cell.hpp"

namespace morula::invariants::twin {

class TransferSteps {
 public:
  TransferSteps(SeenCell& cell, Findings& findings, SaidSteps& said);

  /// The put of a fresh manifest is sent: where its own entry begins has been chosen.
  void creation_sent(const SeenLog& by, const std::string& key);
  /// A swap is sent, and can land.
  void sent(SeenLog& by, const std::shared_ptr<const Topology>& next);
  /// The topology is now this.
  void landed(const std::shared_ptr<const Topology>& now);

 private:
  using Spec = spec::Topology;

  /// What the next seq of the creator could be called when it sent the manifest.
  struct Chosen {
    uint64_t lowest = 0;
    uint64_t highest = 0;
  };
  /// One change on its way through the spec.
  struct Swap;

  /// False: no action has this form.
  static bool name(Swap& swap);
  void check(const SeenLog& by, const Topology& now, const RowChange& change);
  void project(Swap& swap);
  void project_taker(Swap& swap);
  void project_giver(Swap& swap);
  void check_giver(const Swap& swap);
  void compare(Swap& swap, const spec::TopologyState& after);
  static void drop_unreached(Swap& swap, Prefix half, const spec::ClippedManifest& found,
                             spec::ClippedManifest& expected);

  SeenCell& cell_;
  Findings& findings_;
  SaidSteps& said_;
  Spec twin_;
  spec::OwnershipLog log_twin_;
  std::map<std::string, Chosen> chosen_;  // by manifest key
};

}  // namespace morula::invariants::twin
