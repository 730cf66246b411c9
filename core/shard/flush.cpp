// Flush (OWNERSHIP R2): from memtables into tables, and the manifest that names them.

#include <utility>

#include "core/base/check.hpp"
#include "core/base/mutant.hpp"
#include "core/lsm/table_builder.hpp"
#include "core/rt/clock.hpp"
#include "core/rt/compute.hpp"
#include "core/rt/trace.hpp"
#include "core/shard/manifest_document.hpp"
#include "core/shard/shard.hpp"
#include "core/store/conditional.hpp"
#include "core/store/keys.hpp"

namespace morula {

namespace {

constexpr Duration kRetryPause = std::chrono::seconds(1);

}  // namespace

void Shard::request_flush() {
  flush_requested_ = true;
  flusher_.wake_all();
}

bool Shard::flush_if_due() {
  const bool due = flush_due();
  if (due) flusher_.wake_all();
  return due;
}

void Shard::run_flusher() {
  if (!retired_) memtables_.add(*this);
  while (true) {
    while (!flush_due() && !retired_) flusher_.wait();
    if (retired_) break;
    flush_requested_ = false;
    auto flushed = Flush();
    flushing_ = 0;
    if (flushed && *flushed == Swapped::kSealed && !retired_) {
      env_.trace.log(Severity::kWarning, "manifest_sealed", {{"manifest", adopted_.manifest_key}});
      break;
    }
    if (retired_) break;
    flush_trouble_ = flushed ? "" : flushed.error().message;
    if (!flushed) {
      if (flushed.error().code == ErrorCode::kFenced) break;
      env_.trace.log(Severity::kWarning, "flush_failed",
                     {{"shard", prefix().text()}, {"error", flushed.error().message}});
      flush_requested_ = true;
      env_.clock.sleep(kRetryPause);
    }
    memtables_.flush_largest();
  }
}

// Step Flush
Result<Shard::Swapped> Shard::Flush() {
  // Cut and freeze in one go: every record of the frozen memtables lies below `from`.
  const LogSeq from = log_.cut();
  const uint64_t held_from = log_.appended_bytes();
  const WallTime cut_at = log_.wall();
  LogPin pin = log_.pin(from);
  freeze();
  flushing_ = frozen_.size();
  if (from > LogSeq(0) && !mutated(Mutant::flush_unacknowledged)) {
    MORULA_TRY(log_.wait_acknowledged(from - 1));
  }

  const MadeFor made_for = manifest_key();
  auto tables = write_tables(frozen_rows(), Purpose::kFlush);
  MORULA_TRY(tables);
  tables->insert(tables->begin(), unpublished_.begin(), unpublished_.end());

  MutexLock lock(manifest_mutex_);
  if (!may_publish(made_for)) return fail(reopened_error());
  const Manifest next = flushed_manifest(from, *tables);
  if (mutated(Mutant::trim_without_cas)) adopted_.from = log_.pin(from);
  auto swapped = swap_manifest(next, Purpose::kFlush);
  MORULA_TRY(swapped);
  if (*swapped == Swapped::kSealed) return Swapped::kSealed;

  env_.trace.sometimes("a shard was dropped while its flush's CAS was under way", retired_);
  if (!retired_) {
    adopted_.from = std::move(pin);
    held_from_ = held_from;
    flushed_at_ = cut_at;
    publish(*std::move(tables));
    unpublished_.clear();
    thaw();
  }
  env_.trace.step(
      {Step::kFlush, log_.incarnation().text(), prefix().text(), from.value, next.version.value});
  compactor_.wake_all();
  return Swapped::kDone;
}

/// Those of the flush are in tables now.
void Shard::thaw() {
  MORULA_CHECK(flushing_ <= frozen_.size());
  frozen_.erase(frozen_.begin(),
                frozen_.begin() + static_cast<ptrdiff_t>(std::exchange(flushing_, 0)));
  rebuild_readers();
  account();
}

void Shard::publish(std::vector<NewTable> tables) {
  for (NewTable& table : tables) {
    table.draft.reset();
    published_.push_back(std::move(table));
  }
}

Result<Shard::Swapped> Shard::swap_manifest(Manifest next, Purpose purpose) {
  auto outcome = swap_object(env_, adopted_.manifest_key, make_blob(encode_manifest(next)),
                             adopted_.manifest.etag, purpose, config_.retry);
  MORULA_TRY(outcome);
  if (!outcome->landed) return Swapped::kSealed;
  adopted_.manifest = {std::move(next), std::move(outcome->etag)};
  count_unmerged();
  return Swapped::kDone;
}

Manifest Shard::flushed_manifest(LogSeq from, const std::vector<NewTable>& tables) const {
  Manifest next = next_version(env_, manifest(), log_.incarnation());
  for (const NewTable& table : tables) next.tables.push_back(table.entry);
  next.logs = {{prefix(), log_.incarnation(), from, std::nullopt}};
  if (!mutated(Mutant::floor_not_raised)) {
    next.wall_floor = std::max(next.wall_floor, log_.wall_floor());
  }
  return next;
}

bool Shard::may_publish(const MadeFor& made_for) const {
  const bool named = !retired_ && made_for == manifest_key();
  env_.trace.sometimes("tables were made for a manifest that was replaced meanwhile", !named);
  // Sealed by this instance, for a change that was given up before it was settled: others may have
  // read it as it is.
  env_.trace.sometimes("tables were made for a manifest that was sealed meanwhile",
                       named && manifest().sealed);
  return named && !manifest().sealed;
}

Result<std::vector<Shard::NewTable>> Shard::write_tables(
    const std::vector<ClippedMemtable>& memtables, Purpose purpose) {
  std::vector<NewTable> tables;
  uint64_t bytes = 0;
  for (const ClippedMemtable& memtable : memtables) bytes += memtable.memtable->bytes();
  const TableMemory::Room room = memtables_.table_memory().for_flush(bytes);
  for (const Tree tree : kTrees) {
    if (retired_) return fail(reopened_error());
    if (tree == Tree::kIndex && mutated(Mutant::index_dropped_early)) continue;
    std::optional<BuiltTable> built;
    env_.compute.run([&] { built = build_table(memtables, tree); });
    if (!built) continue;
    auto table = upload({.tree = tree}, *std::move(built), purpose);
    MORULA_TRY(table);
    tables.push_back(std::move(*table));
  }
  return tables;
}

/// `entry` says tree and level.
Result<Shard::NewTable> Shard::upload(ManifestTable entry, BuiltTable built, Purpose purpose) {
  auto draft = numbers_.draw();
  entry.key = keys::table(log_.incarnation(), draft->number());
  entry.clip = prefix();
  entry.bytes = built.bytes.size();
  entry.streams = built.streams;
  const Blob object = make_blob(std::move(built.bytes));
  auto outcome = create_object(env_, entry.key, object, purpose, config_.retry);
  MORULA_TRY(outcome);
  if (!outcome->landed) return fail(ErrorCode::kCorrupt, entry.key + ": a fresh key was taken");
  auto table = open_table(entry, purpose);
  MORULA_TRY(table);
  // Else every merge would leave the cache's second tier with blocks of tables that are gone.
  (*table)->offer_all(object);
  return NewTable{std::move(entry), std::move(*table), std::move(draft)};
}

}  // namespace morula
