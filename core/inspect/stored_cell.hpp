// What a cell says of itself at one moment: its documents, as far as they can be read.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/cell/cell_document.hpp"
#include "core/fleet/member.hpp"
#include "core/lsm/manifest.hpp"
#include "core/rt/env.hpp"
#include "core/store/conditional.hpp"
#include "core/topology/topology.hpp"

namespace morula {

struct ShardView {
  TopologyShard row;
  std::optional<Manifest> manifest;  // nullopt: absent, or `damage` says why
  std::optional<std::string> damage;
  std::optional<Member> owner;  // its member document, if that is the owner's
};

struct StoredCell {
  std::optional<CellDocument> cell;
  std::optional<Topology> topology;
  std::vector<ShardView> shards;
  /// Documents that could not be understood, and why.
  std::map<std::string, std::string> damaged;

  uint64_t window() const { return cell ? cell->window : CellDocument().window; }
  const ShardView* find(Prefix prefix) const;
  /// Nothing that this view shows has been changed since `earlier` was taken.
  bool same_as(const StoredCell& earlier) const;
};

/// Damage and absence are part of the view; errors are the store's alone. Suspends.
Result<StoredCell> view_stored_cell(const Env& env, const RetryConfig& retry);

}  // namespace morula
