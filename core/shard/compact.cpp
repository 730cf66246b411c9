// Compaction (OWNERSHIP R2): from tables into fewer, and the manifest that names them instead.

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/base/mutant.hpp"
#include "core/rt/clock.hpp"
#include "core/rt/compute.hpp"
#include "core/rt/trace.hpp"
#include "core/shard/manifest_document.hpp"
#include "core/shard/shard.hpp"

namespace morula {

namespace {

// Damage that stays must not be read again every second.
constexpr Duration kRetryPauseMin = std::chrono::seconds(1);
constexpr Duration kRetryPauseMax = std::chrono::minutes(1);
/// Each half of a table that a split has cut is a table of its own here, though the object is one.
bool is_input(const CompactionPlan& plan, const ManifestTable& table) {
  return std::ranges::any_of(plan.inputs, [&](const ManifestTable& input) {
    return input.key == table.key && input.clip == table.clip;
  });
}

/// The tables of level 0 are of all streams, and so may small ones beside larger be: with them, all
/// meta rows would have to be read for little data. What is dead among their rows goes when they
/// are merged further down, or with the larger ones.
bool joins_meta(const CompactionPlan& plan) {
  return plan.from_level > 0 && !plan.beside_larger;
}

/// Whether the merge reads which streams live from this table.
bool joins(const CompactionPlan& plan, const ManifestTable& table) {
  return joins_meta(plan) && plan.tree == Tree::kData && table.tree == Tree::kMeta &&
         table.counted().overlaps(plan.streams());
}

/// A scan never reads less than a section.
uint64_t largest_section(const Table& table) {
  uint64_t largest = 0;
  BlockCursor top(table.top_index());
  for (top.seek({}); top.valid(); top.next()) {
    const auto section = SectionHandle::decode(top.row().value);
    if (section) largest = std::max(largest, section->end() - section->begin());
  }
  return largest;
}

/// Spreads reads over time.
class Pace {
 public:
  Pace(Clock& clock, uint64_t bytes_per_second) : clock_(clock), rate_(bytes_per_second) {}

  void took(uint64_t bytes) {
    if (rate_ == 0) return;
    next_ =
        std::max(next_, clock_.now()) + std::chrono::nanoseconds(bytes * 1'000'000 / rate_ * 1000);
    clock_.sleep_until(next_);
  }

 private:
  Clock& clock_;
  uint64_t rate_;
  Time next_{};
};

}  // namespace

void Shard::run_compactor() {
  Duration pause = kRetryPauseMin;
  while (!log_.fenced() && !retired_) {
    const auto plan = pick_compaction(config_.compaction, manifest());
    if (!plan) {
      compactor_.wait();
      continue;
    }
    const auto compacted = Compact(*plan);
    if (retired_ || (compacted && *compacted == Swapped::kSealed)) break;
    if (compacted) {
      pause = kRetryPauseMin;
      continue;
    }
    env_.trace.log(Severity::kWarning, "compaction_failed",
                   {{"shard", prefix().text()}, {"error", compacted.error().message}});
    env_.clock.sleep(pause);
    pause = std::min(2 * pause, kRetryPauseMax);
  }
}

// Step Compact
Result<Shard::Swapped> Shard::Compact(const CompactionPlan& plan) {
  const Manifest base = manifest();
  const MadeFor made_for = manifest_key();
  const MergeMemory memory = memory_of(plan);
  CompactionMerge merge = merge_of(plan, memory.window);
  auto outputs = merge_tables(merge, plan, memory.bytes);
  MORULA_TRY(outputs);

  MutexLock lock(manifest_mutex_);
  if (!may_publish(made_for)) return fail(reopened_error());
  Manifest next = next_version(env_, manifest(), log_.incarnation());
  if (mutated(Mutant::compact_on_old_manifest)) next.tables = base.tables;
  std::erase_if(next.tables, [&](const ManifestTable& table) { return is_input(plan, table); });
  for (const NewTable& output : *outputs) next.tables.push_back(output.entry);
  if (!mutated(Mutant::mark_not_raised)) next.mark = std::max(next.mark, merge.dropped().highest);
  next.wall_floor = std::max(next.wall_floor, log_.wall_floor());
  auto swapped = swap_manifest(std::move(next), Purpose::kCompaction);
  MORULA_TRY(swapped);
  if (*swapped == Swapped::kSealed) return Swapped::kSealed;

  std::erase_if(published_, [&](const NewTable& table) {
    if (!is_input(plan, table.entry)) return false;
    table.table->leave_tier();
    return true;
  });
  const bool cut = outputs->size() > 1;
  publish(*std::move(outputs));
  rebuild_readers();
  const CompactionMerge::Dropped& dropped = merge.dropped();
  env_.trace.sometimes("a compaction dropped a tombstone", dropped.tombstones > 0);
  env_.trace.sometimes("a compaction dropped an expired stream", dropped.expired > 0);
  env_.trace.sometimes("a compaction dropped a dead stream's data",
                       plan.tree == Tree::kData && dropped.rows > 0);
  env_.trace.sometimes("a compaction cut its output", cut);
  env_.trace.sometimes("a compaction reached level 2", plan.to_level > 1);
  env_.trace.sometimes("a compaction merged the bottom in place", plan.to_level == plan.from_level);
  env_.trace.step({.step = Step::kCompact,
                   .actor = log_.incarnation().text(),
                   .subject = prefix().text(),
                   .other = manifest().version.value});
  return Swapped::kDone;
}

Shard::MergeMemory Shard::memory_of(const CompactionPlan& plan) const {
  const CompactionConfig& config = config_.compaction;
  std::vector<const NewTable*> inputs;
  for (const NewTable& table : published_) {
    if (is_input(plan, table.entry) || joins(plan, table.entry)) inputs.push_back(&table);
  }
  const uint64_t all = memtables_.memory().compactions.limit();
  // A table that ends within a stream, or between crowded bounds, is larger than it should be.
  const uint64_t output = std::min(plan.bytes(), 2 * config.table_bytes);
  const uint64_t part = (all - std::min(all, output)) / std::max<size_t>(inputs.size(), 1);
  MergeMemory memory;
  memory.window = std::min(config.window_bytes, part);
  memory.bytes = output;
  for (const NewTable* input : inputs) {
    const uint64_t read = std::max(memory.window, largest_section(*input->table));
    memory.bytes += std::min(input->entry.bytes, read);
  }
  return memory;
}

CompactionMerge Shard::merge_of(const CompactionPlan& plan, uint64_t window) const {
  std::vector<TableScan> inputs;
  std::optional<std::vector<TableScan>> hot;
  if (joins_meta(plan)) hot.emplace();
  std::vector<ManifestTable> outside;
  for (const NewTable& table : published_) {
    if (joins(plan, table.entry)) hot->push_back(scan_of(table, window, plan.streams().first));
    if (table.entry.tree != plan.tree) continue;
    if (is_input(plan, table.entry)) {
      inputs.push_back(scan_of(table, window));
    } else {
      outside.push_back(table.entry);
    }
  }
  // Not the present time: see CompactionMerge.
  ExpiredBy expired{flushed_at_, config_.deadline_of, config_.listing_of};
  if (mutated(Mutant::expiry_differs_after_compaction)) expired.time = log_.wall();
  return {plan.tree,      std::move(inputs), std::move(outside),
          std::move(hot), expired,           config_.compaction.table_bytes,
          plan.cut_bits};
}

TableScan Shard::scan_of(const NewTable& table, uint64_t window, std::string first) const {
  const Prefix clip = mutated(Mutant::clip_ignored_in_compaction) ? Prefix{} : table.entry.clip;
  return {table.table, clip, window, std::move(first)};
}

Result<std::vector<Shard::NewTable>> Shard::merge_tables(CompactionMerge& merge,
                                                         const CompactionPlan& plan,
                                                         uint64_t bytes) {
  using Pause = CompactionMerge::Pause;
  std::vector<NewTable> outputs;
  Pace pace(env_.clock, config_.compaction.read_bytes_per_second);
  Pause pause = Pause::kWantsMore;
  const TableMemory::Room room = memtables_.table_memory().for_compaction(bytes);
  while (pause != Pause::kDone) {
    TableBuilder output(plan.tree);
    do {
      // Its successors have the same to do, and their own memory for it.
      if (retired_) return fail(reopened_error());
      const auto read = merge.read_more();
      MORULA_TRY(read);
      pace.took(*read);
      env_.compute.run([&] { pause = merge.merge(output); });
    } while (pause == Pause::kWantsMore);
    if (const auto unlisted = merge.take_unlisted()) {
      env_.trace.sometimes("a compaction took an expired stream off the listing", true);
      auto tombstones = write_tables({unlisted}, Purpose::kCompaction);
      MORULA_TRY(tombstones);
      std::ranges::move(*tombstones, std::back_inserter(outputs));
    }
    if (output.rows() == 0) continue;
    BuiltTable built{{}, output.streams()};
    env_.compute.run([&] { built.bytes = output.finish(); });
    auto table =
        upload({.tree = plan.tree, .level = plan.to_level}, std::move(built), Purpose::kCompaction);
    MORULA_TRY(table);
    outputs.push_back(*std::move(table));
  }
  return outputs;
}

}  // namespace morula
