#include "core/lsm/compaction.hpp"

#include <algorithm>
#include <bit>
#include <tuple>

namespace morula {
namespace {

constexpr uint64_t kSmall = 8;   // a small table has at most 1 / this of a table's bytes
constexpr uint64_t kDue = 1000;  // how deep a stack is, in thousandths of what it may be

struct Placed {
  const ManifestTable* table;
  KeyRange streams;  // those that it counts for
  uint64_t bytes;    // theirs
};

using Level = std::vector<Placed>;

/// Tables of one level that lie over each other, directly or by way of others.
struct Stack {
  Level tables;
  KeyRange streams;
  uint64_t depth = 0;  // over the stream that has most tables
  uint64_t bytes = 0;
};

std::vector<Level> levels_of(const Manifest& manifest, Tree tree) {
  std::vector<Level> levels;
  for (const ManifestTable& table : manifest.tables) {
    if (table.tree != tree) continue;
    if (levels.size() <= table.level) levels.resize(table.level + 1);
    levels[table.level].push_back({&table, table.counted(), table.counted_bytes()});
  }
  return levels;
}

/// A stream that is larger than a table lies in several, which don't lie over each other for that:
/// a table of at least `table_bytes` may be such a piece, and only meets the one that begins with
/// its last stream (CompactionMerge cuts within a stream no earlier).
std::vector<Stack> stacks_of(Level level, uint64_t table_bytes) {
  std::ranges::sort(level, {}, [](const Placed& placed) {
    return std::tuple(placed.streams.first, placed.streams.last, placed.table->key);
  });
  std::vector<Stack> stacks;
  struct Open {
    std::string_view last;
    bool may_be_piece;
  };
  std::vector<Open> open;  // the tables that are over the present place
  for (const Placed& placed : level) {
    const std::string_view first = placed.streams.first;
    std::erase_if(open, [&](const Open& before) {
      return before.last < first || (before.may_be_piece && before.last == first);
    });
    if (open.empty()) stacks.push_back({{}, placed.streams, 0, 0});
    Stack& stack = stacks.back();
    open.push_back({placed.streams.last, placed.bytes >= table_bytes});
    stack.tables.push_back(placed);
    stack.streams.last = std::max(stack.streams.last, placed.streams.last);
    stack.depth = std::max<uint64_t>(stack.depth, open.size());
    stack.bytes += placed.bytes;
  }
  return stacks;
}

/// All of level 0: what is flushed next will lie over every one of them.
Stack all_of(const Level& level) {
  Stack all{level, {}, level.size(), 0};
  for (const Placed& placed : level) all.bytes += placed.bytes;
  return all;
}

bool something_below(const std::vector<Level>& levels, size_t level, const KeyRange& streams) {
  for (size_t below = level + 1; below < levels.size(); ++below) {
    for (const Placed& placed : levels[below]) {
      if (placed.streams.overlaps(streams)) return true;
    }
  }
  return false;
}

/// What lies over each other and is small beside a table: merged by itself it makes the level less
/// deep, and nothing large is written again for it. nullopt when there is none.
std::optional<Stack> small_stack(const Level& level, uint64_t table_bytes) {
  Level small;
  for (const Placed& placed : level) {
    if (placed.bytes < table_bytes / kSmall) small.push_back(placed);
  }
  std::optional<Stack> deepest;
  for (Stack& stack : stacks_of(std::move(small), table_bytes)) {
    if (stack.depth > (deepest ? deepest->depth : 1)) deepest = std::move(stack);
  }
  return deepest;
}

/// So that outputs have at most `table_bytes` each, if streams are spread like hashes.
/// Tenants and paths are not: tables of the index are cut where they have their size.
uint8_t cut_bits(Tree tree, const KeyRange& streams, uint64_t bytes, uint64_t table_bytes) {
  if (tree == Tree::kIndex) return 0;
  const StreamId first = row_key::stream_id(streams.first);
  const StreamId last = row_key::stream_id(streams.last);
  const int common = std::countl_zero(first.high ^ last.high);
  const uint64_t outputs = (bytes + table_bytes - 1) / std::max<uint64_t>(table_bytes, 1);
  const int more = outputs <= 1 ? 0 : 64 - std::countl_zero(outputs - 1);
  return static_cast<uint8_t>(std::min(common + more, 64));
}

}  // namespace

KeyRange CompactionPlan::streams() const {
  KeyRange range = inputs.front().counted();
  for (const ManifestTable& table : inputs) {
    const KeyRange streams = table.counted();
    range.first = std::min(range.first, streams.first);
    range.last = std::max(range.last, streams.last);
  }
  return range;
}

uint64_t CompactionPlan::bytes() const {
  uint64_t bytes = 0;
  for (const ManifestTable& table : inputs) bytes += table.counted_bytes();
  return bytes;
}

std::optional<CompactionPlan> pick_compaction(const CompactionConfig& config,
                                              const Manifest& manifest) {
  CompactionPlan plan;
  uint64_t most = kDue - 1;
  for (const Tree tree : kTrees) {
    const std::vector<Level> levels = levels_of(manifest, tree);
    for (uint32_t level = 0; level < levels.size(); ++level) {
      if (levels[level].empty()) continue;
      const auto stacks = level == 0 ? std::vector{all_of(levels[0])}
                                     : stacks_of(levels[level], config.table_bytes);
      for (const Stack& stack : stacks) {
        const bool bottom = level > 0 && !something_below(levels, level, stack.streams);
        const uint64_t depth =
            stack.depth * kDue / (bottom ? config.bottom_stack_tables : config.stack_tables);
        if (depth <= most) continue;
        most = depth;
        const auto small =
            level == 0 ? std::nullopt : small_stack(stack.tables, config.table_bytes);
        plan = {tree, level, std::min(level + 1, config.deepest_level), {}, 0, false};
        plan.beside_larger = small && small->tables.size() < stack.tables.size();
        if (small || (bottom && stack.bytes < config.bottom_stack_bytes)) plan.to_level = level;
        for (const Placed& placed : (small ? *small : stack).tables) {
          plan.inputs.push_back(*placed.table);
        }
      }
    }
  }
  if (plan.inputs.empty()) return std::nullopt;
  plan.cut_bits = cut_bits(plan.tree, plan.streams(), plan.bytes(), config.table_bytes);
  return plan;
}

}  // namespace morula
