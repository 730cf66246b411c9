// What the API asks of the cell as a whole: how it looks, and the changes that an operator or a
// planner wants. The instance implements it; the routes are in core/api/cell_routes.hpp.
//
// A change is carried out by the owner of the shards that it concerns; one that meets another
// instance ends with kMoved, and whoever asked looks again who owns them. It is one change of the
// topology, made or not: the answer is given once that is settled.
#pragma once

#include <string>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/prefix.hpp"
#include "core/base/result.hpp"
#include "core/base/units.hpp"
#include "core/fleet/member.hpp"
#include "core/topology/topology.hpp"

namespace morula {

/// What this instance knows of its cell.
struct CellView {
  Topology topology;
  struct Known {
    IncarnationId incarnation;
    std::string address;  // "http://host:port"
    MemberState state;
  };
  std::vector<Known> members;  // by name, this instance included
  IncarnationId self;
  struct Move {
    Prefix prefix;
    IncarnationId to;
  };
  std::vector<Move> moves;  // of shards of this instance that are under way now
};

/// A change of the topology that an operator or a planner asked for.
struct Changed {
  bool changed = false;  // false: it was so already
  Version topology;      // the version that has it
};

class CellControl {
 public:
  virtual ~CellControl() = default;

  /// Reads topology and member documents afresh. Suspends; throws Cancelled.
  virtual Result<CellView> view() = 0;
  /// The view's `moves` alone. As `view`, unless they are known without looking at the store.
  virtual Result<std::vector<CellView::Move>> moves() {
    auto seen = view();
    MORULA_TRY(seen);
    return std::move(seen->moves);
  }

  // Each suspends until it is resolved, and throws Cancelled, after which it may still happen.
  // Errors: kMoved: this instance does not own the shard (any more). kInvalid: refused, with why
  // and what is allowed. kBusy: another change of the shard is under way, or it failed for now:
  // nothing changed; try again.

  /// Divides the shard into its two halves.
  virtual Result<Changed> split(Prefix prefix) = 0;
  /// `prefix`: of the merged shard. Both halves are owned here.
  virtual Result<Changed> merge(Prefix prefix) = 0;
  /// Hands the shard over to a live instance.
  virtual Result<Changed> move(Prefix prefix, const IncarnationId& to) = 0;
};

}  // namespace morula
