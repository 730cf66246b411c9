#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "core/lsm/compaction.hpp"

namespace morula {
namespace {

ManifestTable entry(uint32_t level, uint64_t first, uint64_t last, uint64_t bytes = 100) {
  const std::string key = std::to_string(level) + ":" + std::to_string(first);
  return {key, Tree::kData, {}, bytes, level, {StreamId{first, 0}, StreamId{last, 0}}};
}

std::vector<std::string> keys_of(const std::optional<CompactionPlan>& plan) {
  std::vector<std::string> keys;
  if (plan) {
    for (const ManifestTable& table : plan->inputs) keys.push_back(table.key);
  }
  return keys;
}

using Keys = std::vector<std::string>;

TEST(PickCompaction, TakesAllOfLevel0AndNothingBelow) {
  const CompactionConfig config{.stack_tables = 2};
  Manifest manifest;
  manifest.tables = {entry(0, 10, 20), entry(1, 0, 5), entry(1, 18, 30)};
  EXPECT_FALSE(pick_compaction(config, manifest));
  manifest.tables.push_back(entry(0, 31, 40));
  const auto plan = pick_compaction(config, manifest);
  EXPECT_EQ(keys_of(plan), (Keys{"0:10", "0:31"}));
  EXPECT_EQ(plan->to_level, 1u);
}

TEST(PickCompaction, TakesTheDeepestStackOfALevel) {
  const CompactionConfig config{.stack_tables = 2, .table_bytes = 100};
  Manifest manifest;
  manifest.tables = {entry(2, 0, 90),  entry(1, 10, 19), entry(1, 11, 15), entry(1, 20, 30),
                     entry(1, 21, 24), entry(1, 22, 29), entry(1, 40, 50)};
  const auto plan = pick_compaction(config, manifest);
  EXPECT_EQ(keys_of(plan), (Keys{"1:20", "1:21", "1:22"}));
  EXPECT_EQ(plan->from_level, 1u);
  EXPECT_EQ(plan->to_level, 2u);
}

TEST(PickCompaction, MergesTheBottomInPlaceUntilItIsLarge) {
  CompactionConfig config{
      .stack_tables = 4, .bottom_stack_tables = 2, .bottom_stack_bytes = 250, .table_bytes = 100};
  Manifest manifest;
  manifest.tables = {entry(1, 10, 19), entry(1, 11, 15), entry(2, 20, 30)};
  EXPECT_EQ(pick_compaction(config, manifest)->to_level, 1u);
  config.bottom_stack_bytes = 200;
  EXPECT_EQ(pick_compaction(config, manifest)->to_level, 2u);
  manifest.tables.push_back(entry(2, 0, 12));
  EXPECT_FALSE(pick_compaction(config, manifest));
}

TEST(PickCompaction, MergesInPlaceAtTheDeepestLevelHoweverLargeTheStack) {
  const CompactionConfig config{.stack_tables = 2,
                                .bottom_stack_tables = 2,
                                .bottom_stack_bytes = 1,
                                .deepest_level = 3,
                                .table_bytes = 100};
  for (const auto& [from, to] : {std::pair(0u, 1u), {2u, 3u}, {3u, 3u}, {7u, 3u}}) {
    Manifest manifest;
    manifest.tables = {entry(from, 10, 19), entry(from, 11, 15)};
    const auto plan = pick_compaction(config, manifest);
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan->from_level, from);
    EXPECT_EQ(plan->to_level, to);
  }
}

TEST(PickCompaction, HalvesOfATableThatComeTogetherAgainDoNotLieOverEachOther) {
  const CompactionConfig config{.stack_tables = 2, .bottom_stack_tables = 2, .table_bytes = 100};
  ManifestTable low = entry(1, 0, UINT64_MAX);
  ManifestTable high = low;
  low.clip = Prefix{}.child(false);
  high.clip = Prefix{}.child(true);
  Manifest manifest;
  manifest.tables = {low, high};
  EXPECT_FALSE(pick_compaction(config, manifest));
  manifest.tables.push_back(entry(1, 7, 9));
  EXPECT_EQ(keys_of(pick_compaction(config, manifest)), (Keys{low.key, "1:7"}));
  low.tree = high.tree = Tree::kIndex;  // places there say nothing of the shard
  manifest.tables = {low, high};
  EXPECT_TRUE(pick_compaction(config, manifest));
}

TEST(PickCompaction, OfATableThatWasCutOnlyWhatCountsIsLarge) {
  const CompactionConfig config{
      .stack_tables = 2, .bottom_stack_tables = 2, .bottom_stack_bytes = 1000, .table_bytes = 100};
  Manifest manifest;
  manifest.tables = {entry(1, 0, UINT64_MAX, 800), entry(1, 1, UINT64_MAX, 800)};
  EXPECT_EQ(pick_compaction(config, manifest)->to_level, 2u);
  for (ManifestTable& table : manifest.tables) table.clip = Prefix{0, 3};
  const auto plan = pick_compaction(config, manifest);
  EXPECT_EQ(plan->to_level, 1u);
  EXPECT_GE(plan->bytes(), 195u);
  EXPECT_LE(plan->bytes(), 200u);
  EXPECT_EQ(plan->cut_bits, 4) << "an eighth of the streams, in two tables";
  for (ManifestTable& table : manifest.tables) table.clip = Prefix{0, Prefix::kMaxLength};
  EXPECT_GE(pick_compaction(config, manifest)->bytes(), 2u);
}

TEST(PickCompaction, PiecesOfALargeStreamDoNotLieOverEachOther) {
  const CompactionConfig config{.stack_tables = 2, .bottom_stack_tables = 2, .table_bytes = 100};
  Manifest manifest;
  manifest.tables = {entry(1, 1, 5, 110), entry(1, 5, 5, 200), entry(1, 5, 5, 200),
                     entry(1, 5, 9, 20)};
  EXPECT_FALSE(pick_compaction(config, manifest));
  manifest.tables.push_back(entry(1, 5, 5, 20));  // no piece: too small
  EXPECT_TRUE(pick_compaction(config, manifest));
}

TEST(PickCompaction, TablesOfOneStreamAreMergedUntilTheyAreLarge) {
  const CompactionConfig config;
  constexpr uint64_t kFlushBytes = 100 * kKiB;
  Manifest manifest;
  const KeyRange one{StreamId{7, 7}, StreamId{7, 7}};
  uint64_t merged = 0;
  for (int i = 0; i < 4000; ++i) {
    manifest.tables.push_back({std::to_string(i), Tree::kData, {}, kFlushBytes, 0, one});
    while (const auto plan = pick_compaction(config, manifest)) {
      std::erase_if(manifest.tables, [&](const ManifestTable& table) {
        return std::ranges::find(plan->inputs, table.key, &ManifestTable::key) !=
               plan->inputs.end();
      });
      merged += plan->bytes();
      // As CompactionMerge cuts a stream that is larger than a table.
      for (uint64_t left = plan->bytes(); left > 0;) {
        const uint64_t bytes = std::min(left, 2 * config.table_bytes);
        manifest.tables.push_back(
            {"m" + std::to_string(merged + left), Tree::kData, {}, bytes, plan->to_level, one});
        left -= bytes;
      }
    }
  }
  EXPECT_LE(manifest.tables.size(), 4000 * kFlushBytes / config.table_bytes + 30);
  EXPECT_LE(merged, 12 * 4000 * kFlushBytes);
}

TEST(PickCompaction, CutsAtBoundsThatLeaveEachOutputTheSizeOfATable) {
  const CompactionConfig config{.stack_tables = 2, .table_bytes = 100};
  Manifest manifest;
  manifest.tables = {entry(0, 0, UINT64_MAX, 300), entry(0, 0, UINT64_MAX, 300)};
  EXPECT_EQ(pick_compaction(config, manifest)->cut_bits, 3);
  manifest.tables = {entry(0, 0, UINT64_MAX / 8, 300), entry(0, 0, UINT64_MAX / 8, 300)};
  EXPECT_EQ(pick_compaction(config, manifest)->cut_bits, 6);
  manifest.tables = {entry(0, 0, UINT64_MAX / 8, 30), entry(0, 0, UINT64_MAX / 8, 30)};
  EXPECT_EQ(pick_compaction(config, manifest)->cut_bits, 3);
}

TEST(PickCompaction, MergesWhatIsSmallByItselfFirst) {
  const CompactionConfig config{.stack_tables = 4, .bottom_stack_tables = 3, .table_bytes = 1000};
  Manifest manifest;
  manifest.tables = {entry(1, 0, 99, 900), entry(1, 1, 98, 20), entry(1, 2, 97, 20)};
  auto plan = pick_compaction(config, manifest);
  EXPECT_EQ(keys_of(plan), (Keys{"1:1", "1:2"}));
  EXPECT_EQ(plan->to_level, 1u);
  EXPECT_TRUE(plan->beside_larger);
  manifest.tables.back().bytes = 300;
  plan = pick_compaction(config, manifest);
  EXPECT_EQ(keys_of(plan), (Keys{"1:0", "1:1", "1:2"}));
  EXPECT_FALSE(plan->beside_larger);
}

/// Flushes of equal size, spread over the whole space, with every merge carried out; no rows are
/// the same.
struct Growth {
  uint64_t flushed = 0;
  uint64_t merged = 0;
  uint64_t depth_max = 0;  // tables that one stream may be asked of
};
Growth grow(const CompactionConfig& config, uint64_t flushes, uint64_t flush_bytes) {
  Growth growth;
  Manifest manifest;
  uint64_t next = 0;
  const auto add = [&](uint32_t level, KeyRange streams, uint64_t bytes) {
    manifest.tables.push_back({std::to_string(next++), Tree::kData, {}, bytes, level, streams});
  };
  for (uint64_t i = 0; i < flushes; ++i) {
    add(0, {}, flush_bytes);
    growth.flushed += flush_bytes;
    while (const auto plan = pick_compaction(config, manifest)) {
      std::erase_if(manifest.tables, [&](const ManifestTable& table) {
        return std::ranges::find(plan->inputs, table.key, &ManifestTable::key) !=
               plan->inputs.end();
      });
      growth.merged += plan->bytes();
      const KeyRange streams = plan->streams();
      const uint64_t width =
          plan->cut_bits == 0 ? UINT64_MAX : (uint64_t{1} << (64 - plan->cut_bits)) - 1;
      const uint64_t begin = row_key::stream_id(streams.first).high;
      const uint64_t outputs = (row_key::stream_id(streams.last).high - begin) / width;
      for (uint64_t n = 0; n < outputs; ++n) {
        const uint64_t first = begin + n * (width + (plan->cut_bits == 0 ? 0 : 1));
        add(plan->to_level, {StreamId{first, 0}, StreamId{first + width, UINT64_MAX}},
            plan->bytes() / outputs);
      }
    }
    uint64_t depth = 0;
    for (const ManifestTable& table : manifest.tables) {
      depth += table.streams.contains(row_key::stream({uint64_t{7} << 60, 0})) ? 1 : 0;
    }
    growth.depth_max = std::max(growth.depth_max, depth);
  }
  return growth;
}

TEST(PickCompaction, WritesFourGibibytesFourTimesAndLeavesFewTablesToAsk) {
  const Growth growth = grow({}, 440, 10 * kMiB);
  EXPECT_LE(growth.merged, 4 * growth.flushed);
  EXPECT_LE(growth.depth_max, 8u + 8 + 5);
  RecordProperty("merged_per_flushed_percent",
                 static_cast<int>(growth.merged * 100 / growth.flushed));
  RecordProperty("depth_max", static_cast<int>(growth.depth_max));
}

TEST(PickCompaction, SmallFlushesAreMergedAFewTimesEach) {
  const Growth growth = grow({}, 4000, 100 * kKiB);
  EXPECT_LE(growth.merged, 12 * growth.flushed);
  EXPECT_LE(growth.depth_max, 8u + 8 + 5);
}

}  // namespace
}  // namespace morula
