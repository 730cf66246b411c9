// Which tables of a shard are to be merged next. Leveled: a flush adds tables to level 0, which may
// overlap; below, the tables of a level hold each key once, and each level may have `level_factor`
// times the bytes of the one above. What is merged moves one level down.
//
// Levels are about cost alone: what a reader sees depends on change numbers, never on where a row
// lies.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/lsm/manifest.hpp"

namespace morula {

struct CompactionConfig {
  uint64_t level0_tables = 4;  // of a tree: so many in level 0 are merged into level 1
  uint64_t level1_bytes = 64 * kMiB;
  uint64_t level_factor = 8;
  uint64_t table_bytes = 16 * kMiB;    // a table is cut here, or soon after, between two streams
  uint64_t window_bytes = kMiB;        // read at once, of each table
  uint64_t read_bytes_per_second = 0;  // 0: as fast as it goes
};

struct CompactionPlan {
  Tree tree = Tree::kMeta;
  uint32_t level = 0;                 // the inputs are of this level and the next
  std::vector<ManifestTable> inputs;  // to become tables of the next; at least one

  /// From the first stream of the inputs to the last.
  StreamRange streams() const;
};

/// Remembers how far it has come in each level, so that all of a level gets its turn.
class CompactionPicker {
 public:
  explicit CompactionPicker(const CompactionConfig& config) : config_(config) {}

  /// The merge that is most overdue; nullopt when none is due.
  std::optional<CompactionPlan> pick(const Manifest& manifest);

 private:
  CompactionConfig config_;
  std::map<std::pair<Tree, uint32_t>, StreamId> merged_up_to_;
};

}  // namespace morula
