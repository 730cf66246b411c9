#include "core/lsm/compaction.hpp"

#include <algorithm>

namespace morula {
namespace {

constexpr uint64_t kDue = 1000;  // how full a level is, in thousandths of what it may have

/// The tables of one tree by level.
using Levels = std::vector<std::vector<const ManifestTable*>>;

Levels levels_of(const Manifest& manifest, Tree tree) {
  Levels levels;
  for (const ManifestTable& table : manifest.tables) {
    if (table.tree != tree) continue;
    if (levels.size() <= table.level) levels.resize(table.level + 1);
    levels[table.level].push_back(&table);
  }
  return levels;
}

uint64_t fullness(const CompactionConfig& config, const Levels& levels, uint32_t level) {
  if (level == 0) return levels[0].size() * kDue / config.level0_tables;
  uint64_t bytes = 0;
  for (const ManifestTable* table : levels[level]) bytes += table->bytes;
  uint64_t allowed = config.level1_bytes;
  for (uint32_t i = 1; i < level; ++i) {
    if (allowed > UINT64_MAX / config.level_factor) return 0;  // more than there can be
    allowed *= config.level_factor;
  }
  return bytes * kDue / allowed;
}

/// The first table behind `after` in key order; from the start again at the end.
const ManifestTable& next_in_turn(const std::vector<const ManifestTable*>& tables, StreamId after) {
  const ManifestTable* next = nullptr;
  const ManifestTable* lowest = tables.front();
  for (const ManifestTable* table : tables) {
    if (table->streams.first < lowest->streams.first) lowest = table;
    if (table->streams.first <= after) continue;
    if (next == nullptr || table->streams.first < next->streams.first) next = table;
  }
  return next != nullptr ? *next : *lowest;
}

}  // namespace

StreamRange CompactionPlan::streams() const {
  StreamRange range = inputs.front().streams;
  for (const ManifestTable& table : inputs) {
    range.first = std::min(range.first, table.streams.first);
    range.last = std::max(range.last, table.streams.last);
  }
  return range;
}

std::optional<CompactionPlan> CompactionPicker::pick(const Manifest& manifest) {
  CompactionPlan plan;
  Levels chosen;
  uint64_t fullest = kDue - 1;
  for (const Tree tree : {Tree::kMeta, Tree::kData}) {
    Levels levels = levels_of(manifest, tree);
    for (uint32_t level = 0; level < levels.size(); ++level) {
      const uint64_t full = fullness(config_, levels, level);
      if (full <= fullest) continue;
      fullest = full;
      plan.tree = tree;
      plan.level = level;
      chosen = levels;
    }
  }
  if (fullest < kDue) return std::nullopt;
  if (plan.level == 0) {
    for (const ManifestTable* table : chosen[0]) plan.inputs.push_back(*table);
  } else {
    StreamId& merged_up_to = merged_up_to_[{plan.tree, plan.level}];
    plan.inputs.push_back(next_in_turn(chosen[plan.level], merged_up_to));
    merged_up_to = plan.inputs.front().streams.first;
  }
  const StreamRange range = plan.streams();
  if (plan.level + 1 < chosen.size()) {
    for (const ManifestTable* table : chosen[plan.level + 1]) {
      if (table->streams.overlaps(range)) plan.inputs.push_back(*table);
    }
  }
  return plan;
}

}  // namespace morula
