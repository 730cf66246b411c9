// What lands in the bucket is an action of the specs by itself. A step event is its sender's word
// that it knows: so it must have landed, it is said once, and it is said as it was.
//
//   Seal, Flush, Compact            a version of a manifest
//   Adopt                           a manifest that was created
//   Publish, HandOff, Split, Merge, Reopen    a swap of the topology
//   RenewLease, Expire              a version of a member document
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

#include "core/base/ids.hpp"
#include "core/base/prefix.hpp"
#include "core/lsm/manifest.hpp"
#include "core/rt/trace.hpp"
#include "invariants/row_changes.hpp"
#include "invariants/twin/findings.hpp"

namespace morula::invariants::twin {

class SaidSteps {
 public:
  explicit SaidSteps(Findings& findings) : findings_(findings) {}

  /// `key` of `shard` was created with this content, or swapped to it.
  void created(const std::string& key, const Manifest& manifest);
  void swapped(const std::string& key, Prefix shard, const Manifest& manifest);
  /// One change of the topology, which has this version now.
  void transferred(Step step, const IncarnationId& by, const RowChange& change, Version version);
  void first(const Topology& topology);
  void renewed(const IncarnationId& by, Version version);
  void expired(const IncarnationId& by, const IncarnationId& victim, Version version);

  void said(const StepEvent& event);

 private:
  /// Who, what, subject, position, other: as the event has them.
  using Landed = std::tuple<std::string, Step, std::string, uint64_t, uint64_t>;

  Findings& findings_;
  std::set<Landed> landed_;
};

}  // namespace morula::invariants::twin
