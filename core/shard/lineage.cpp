// How a shard changes hands: within an instance, when it is split or merged, and between two, when
// the receiver has opened it ahead.
#include <algorithm>

#include "core/base/check.hpp"
#include "core/rt/concurrently.hpp"
#include "core/rt/trace.hpp"
#include "core/shard/manifest_document.hpp"
#include "core/shard/shard.hpp"

namespace morula {

namespace {

/// All three lie within each other: the smallest.
Prefix innermost(Prefix a, Prefix b, Prefix c) {
  return std::max({a, b, c}, [](Prefix x, Prefix y) { return x.length < y.length; });
}

}  // namespace

// Step Seal
Result<Shard::Swapped> Shard::Seal() {
  MORULA_CHECK(manifest_mutex_.locked());
  if (manifest().sealed) return Swapped::kDone;
  Manifest sealed = next_version(env_, manifest(), log_.incarnation());
  sealed.sealed = true;
  auto swapped = swap_manifest(std::move(sealed), Purpose::kOwnership);
  MORULA_TRY(swapped);
  if (*swapped == Swapped::kDone) {
    env_.trace.step(
        {Step::kSeal, log_.incarnation().text(), manifest_key(), 0, manifest().version.value});
  }
  return swapped;
}

void Shard::reopen(AdoptedShard reopened) {
  MORULA_CHECK(manifest_mutex_.locked() && reopened.prefix == prefix());
  adopted_ = std::move(reopened);
}

Result<bool> Shard::settle(AdoptedShard& named) {
  const std::vector<ManifestLog>& logs = named.manifest.content.logs;
  const bool outdated = std::ranges::any_of(replayed_, [&](const ManifestLog& range) {
    return std::ranges::none_of(logs, [&](const ManifestLog& log) {
      return log.clip == range.clip && log.incarnation == range.incarnation &&
             log.from == range.from;
    });
  });
  if (outdated) return false;
  adopted_ = std::move(named);
  serves_from_ = adopted_.from.seq();
  log_.raise_wall_floor(manifest().wall_floor);
  count_unmerged();
  MORULA_TRY(open_tables());
  return true;
}

void Shard::inherit(std::span<Shard* const> before) {
  MORULA_CHECK(active_->empty() && frozen_.empty() && !before.empty());
  std::vector<NewTable> known;
  flushed_at_ = before.front()->flushed_at_;
  for (Shard* shard : before) {
    MORULA_CHECK(shard->may_change() && shard->prefix().overlaps(prefix()));
    shard->freeze();
    for (const Frozen& frozen : shard->frozen_) {
      if (!frozen.rows.clip.overlaps(prefix())) continue;
      const Prefix clip = innermost(frozen.rows.clip, shard->prefix(), prefix());
      frozen_.push_back({{frozen.rows.memtable, clip}, frozen.memory});
    }
    known.insert(known.end(), shard->published_.begin(), shard->published_.end());
    applied_ = std::max(applied_, shard->applied_);
    flushed_at_ = std::min(flushed_at_, shard->flushed_at_);
    held_from_ = std::min(held_from_, shard->held_from_);
  }
  for (const ManifestTable& entry : manifest().tables) {
    const auto found =
        std::ranges::find(known, entry.key, [](const NewTable& table) { return table.entry.key; });
    MORULA_CHECK(found != known.end(), "a shard's tables are those of the shards before it");
    published_.push_back({entry, found->table, nullptr});
  }
  rebuild_readers();
  account();
}

void Shard::retire() {
  if (std::exchange(retired_, true)) return;
  memtables_.ended(*this);
  adopted_.from.release();
  frozen_.clear();  // whoever reads has them
  flusher_.wake_all();
  compactor_.wake_all();
}

}  // namespace morula
