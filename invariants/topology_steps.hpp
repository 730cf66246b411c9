// Invariant 5: the topology takes only the steps of the protocol, one at a time, and each has the
// effects on the manifests that the spec gives it (OWNERSHIP R3 to R6).
//
//   step       who writes it   rows
//   Publish    the next owner  any number of one owner's: epoch + 1
//   HandOff    the owner       one: epoch + 1, of another owner
//   Split      the owner       one -> its two halves, both epoch + 1
//   Merge      the owner       two halves -> the whole, the higher epoch + 1
//   Reopen     the owner       one: epoch + 1, of the same owner
//
// What a step replaces is sealed, and what comes names the same rows: each table and each log range
// for the same part of the hash space, the open ranges of an owner that is left closed, one open
// range of the owner that comes, no lower mark of generations.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/lsm/manifest.hpp"
#include "core/topology/topology.hpp"
#include "invariants/row_changes.hpp"
#include "invariants/violation.hpp"

namespace morula::invariants {

class TopologySteps {
 public:
  /// By key; null: it does not exist or is damaged, which is reported elsewhere.
  using FindManifest = std::function<std::shared_ptr<const Manifest>(const std::string& key)>;

  TopologySteps(FindManifest find_manifest, Violations& violations)
      : find_manifest_(std::move(find_manifest)), violations_(violations) {}

  /// The topology went from `before` to `after`.
  void step(const Topology& before, const Topology& after, Duration now);
  /// How often each step was taken.
  const std::map<std::string, uint64_t>& taken() const { return taken_; }

 private:
  /// The name of the step; empty: there is no such one.
  std::string_view name(const RowChange& change, const IncarnationId& writer) const;
  struct Rows;
  std::optional<Rows> rows_before(const RowChange& change) const;
  std::optional<Rows> rows_after(const RowChange& change, std::string_view step, Duration now);
  void check_effects(const RowChange& change, std::string_view step, Duration now);
  void check_closed(const RowChange& change, std::string_view step, Duration now);
  void report(Duration now, std::string_view step, const std::string& what);

  FindManifest find_manifest_;
  Violations& violations_;
  uint64_t version_ = 0;
  std::map<std::string, uint64_t> taken_;
};

}  // namespace morula::invariants
