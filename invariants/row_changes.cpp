#include "invariants/row_changes.hpp"

namespace morula::invariants {

namespace {

bool same_row(const TopologyShard& a, const TopologyShard& b) {
  return a.prefix == b.prefix && a.epoch == b.epoch && a.owner == b.owner &&
         a.manifest == b.manifest && a.logs == b.logs;
}

}  // namespace

bool RowChange::same_space() const {
  uint64_t sizes[2] = {};
  for (const TopologyShard* row : gone) sizes[0] += 1u << (Prefix::kMaxLength - row->prefix.length);
  for (const TopologyShard* row : come) sizes[1] += 1u << (Prefix::kMaxLength - row->prefix.length);
  return sizes[0] == sizes[1];
}

std::vector<RowChange> row_changes(const Topology& before, const Topology& after) {
  std::vector<RowChange> changes;
  for (const TopologyShard& row : before.shards) {
    const TopologyShard* same = after.find(row.prefix);
    if (same != nullptr && same_row(*same, row)) continue;
    const bool known = !changes.empty() && changes.back().come.front()->prefix.overlaps(row.prefix);
    if (known) {
      changes.back().gone.push_back(&row);
      continue;
    }
    RowChange change;
    change.gone.push_back(&row);
    for (const TopologyShard& come : after.shards) {
      if (come.prefix.overlaps(row.prefix)) change.come.push_back(&come);
    }
    changes.push_back(std::move(change));
  }
  return changes;
}

}  // namespace morula::invariants
