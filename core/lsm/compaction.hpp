// Which tables of a shard are to be merged next.
//
// A flush adds tables to level 0. In each level tables may lie over each other: readers ask each of
// them whether it has a stream, which costs little as long as they are few, and not merging them is
// what saves writing. Where a level has become too deep, and only there, what lies over each other
// is merged into the next level, in pieces that end at bounds of the hash space: so what is merged
// together further down is a small part of the space. Where nothing lies below, a stack is merged
// in place sooner: there most rows are, and dead ones. Only when it has grown large it goes down.
// What is small, as a quiet cell flushes it, is first merged among itself.
//
// So a row is written once in each level that it comes through, and about twice in the last one.
//
// A table that a split has cut to a half counts for that half only: put together again, the halves
// do not lie over each other. Else each split and merge of shards would send rows a level down.
//
// Levels are about cost alone: what a reader sees depends on change numbers, never on where a row
// lies.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/lsm/manifest.hpp"

namespace morula {

struct CompactionConfig {
  uint64_t stack_tables = 8;         // that lie over each other in a level: into the next one
  uint64_t bottom_stack_tables = 4;  // the same where nothing lies below: merged in place
  uint64_t bottom_stack_bytes = 128 * kMiB;  // unless they have so many: into the next level
  uint32_t deepest_level = 6;        // at least 1: there a stack is merged in place whatever it has
  uint64_t table_bytes = 16 * kMiB;  // the most that a table is to have, about
  uint64_t window_bytes = kMiB;      // read at once, of each table
  uint64_t read_bytes_per_second = 0;  // 0: as fast as it goes
};

struct CompactionPlan {
  Tree tree = Tree::kMeta;
  uint32_t from_level = 0;
  uint32_t to_level = 0;              // the same or the next; the deepest, from further down
  std::vector<ManifestTable> inputs;  // at least one
  uint8_t cut_bits = 0;        // streams of one output share so many first bits; 0: cut by size
  bool beside_larger = false;  // small tables, of a stack that has larger ones

  /// From the first stream of the inputs to the last.
  KeyRange streams() const;
  uint64_t bytes() const;  // of the inputs, as far as they count
};

/// The merge that is most overdue; nullopt when none is due.
std::optional<CompactionPlan> pick_compaction(const CompactionConfig& config,
                                              const Manifest& manifest);

}  // namespace morula
