#include "core/shard/shard.hpp"

#include <algorithm>

#include "core/base/check.hpp"
#include "core/base/mutant.hpp"
#include "core/rt/clock.hpp"
#include "core/rt/concurrently.hpp"
#include "core/rt/trace.hpp"
#include "core/shard/record.hpp"
#include "core/store/backoff.hpp"

namespace morula {

namespace {

constexpr size_t kTablesOpenedAtOnce = 8;
constexpr size_t kRecordKept = 64 * kKiB;

}  // namespace

Shard::Shard(const Env& env, const ShardConfig& config, LogWriter& log, const LeaseView& lease,
             BlockCache& cache, TableNumbers& numbers, AdoptedShard adopted)
    : env_(env),
      config_(config),
      log_(log),
      lease_(lease),
      cache_(cache),
      numbers_(numbers),
      adopted_(std::move(adopted)),
      serves_from_(adopted_.from.seq()) {
  log_.raise_wall_floor(manifest().wall_floor);
  rebuild_readers();
}

Shard::~Shard() = default;

Result<> Shard::open_tables() {
  const std::vector<ManifestTable>& entries = manifest().tables;
  std::vector<NewTable> opened(entries.size());
  const auto done =
      for_each_concurrently(entries.size(), kTablesOpenedAtOnce, [&](size_t i) -> Result<> {
        auto table = open_table(entries[i], Purpose::kOwnership);
        MORULA_TRY(table);
        opened[i] = {entries[i], std::move(*table), nullptr};
        return {};
      });
  MORULA_TRY(done);
  published_ = std::move(opened);
  rebuild_readers();
  return {};
}

// A store that is slow or down for a while must not cost the shard its owner.
Result<std::shared_ptr<const Table>> Shard::open_table(const ManifestTable& entry,
                                                       Purpose purpose) {
  TableReadConfig config;
  config.opened_for = purpose;
  Backoff backoff(env_, config_.retry, entry.key);
  while (true) {
    auto table = Table::open(env_, cache_, entry.key, entry.bytes, entry.tree, config);
    if (table || table.error().code != ErrorCode::kUnavailable) return table;
    backoff.pause(table.error());
  }
}

Result<> Shard::replay(const LogRecord& record) {
  auto rows = decode_record(record.id, record.payload);
  MORULA_TRY(rows);
  for (const Row& row : *rows) {
    if (mutated(Mutant::dedupe_not_replayed) && row.tree == Tree::kMeta &&
        row_key::parse(row.tree, row.key)->kind == RowKind::kProducer) {
      continue;
    }
    active_->put(row);
  }
  if (active_->bytes() < config_.unflushed_bytes_max) return {};
  freeze();
  auto tables = write_tables(frozen_, Purpose::kFlush);
  MORULA_TRY(tables);
  unpublished_.insert(unpublished_.end(), tables->begin(), tables->end());
  frozen_.clear();
  rebuild_readers();
  env_.trace.sometimes("replay spilled a memtable", true);
  return {};
}

// A table goes when it has been merged and somebody collects garbage. One that is in the manifest
// can only be missing when that isn't ours any more.
template <class Read>
auto Shard::read_with(Tree tree, Read read) {
  const std::shared_ptr<const TreeReader>& present = readers_[static_cast<size_t>(tree)];
  for (;;) {
    // NOLINTNEXTLINE(performance-unnecessary-copy-initialization): a flush may replace it meanwhile
    const auto reader = present;
    auto answer = read(*reader);
    if (answer || answer.error().code != ErrorCode::kNotFound) return answer;
    // A swap may have landed whose answer is still on its way.
    { const MutexLock settled(manifest_mutex_); }
    if (reader != present && !mutated(Mutant::iterator_without_pin)) {
      env_.trace.sometimes("a read met a table that had been merged and collected", true);
      continue;
    }
    answer.error().code = lease_.holds() ? ErrorCode::kCorrupt : ErrorCode::kLeaseLost;
    return answer;
  }
}

Result<std::optional<Row>> Shard::find_hot(StreamId id) {
  return read_with(Tree::kMeta, [&](const TreeReader& reader) { return reader.find_hot(id); });
}

Result<std::optional<Row>> Shard::find(std::string_view meta_key) {
  return read_with(Tree::kMeta, [&](const TreeReader& reader) { return reader.find(meta_key); });
}

Result<> Shard::scan_data(DataScan& scan, const TakeRow& take) {
  return read_with(Tree::kData,
                   [&](const TreeReader& reader) { return reader.scan_data(scan, take); });
}

Result<> Shard::scan_index(RangeScan& scan, const TakeRow& take) {
  return read_with(Tree::kIndex,
                   [&](const TreeReader& reader) { return reader.scan_range(scan, take); });
}

LogSeq Shard::apply(StreamId id, const ChangedRows& rows) {
  MORULA_CHECK(prefix().contains(id), "a row belongs to the shard of its stream");
  for (size_t i = 0; i < rows.size(); ++i) active_->put(rows[i].tree, rows[i].row);
  record_.clear();
  if (record_.capacity() > kRecordKept) std::string().swap(record_);
  encode_record(id, rows, record_);
  const LogSeq seq = log_.append(id, record_);
  applied_ = seq;
  if (flush_due()) flusher_.wake_all();
  return seq;
}

Result<> Shard::wait_for_room() {
  std::optional<Time> until;
  while (memtable_bytes() >= config_.memtable_bytes_max && !log_.fenced() && !log_.stalled()) {
    env_.trace.sometimes("an append waited for a flush", true);
    if (!until) until = env_.clock.now() + config_.room_patience;
    if (room_.wait_until(env_.clock, *until) || env_.clock.now() < *until) continue;
    return fail(ErrorCode::kBusy, "the shard's tables are not written as fast as appends come" +
                                      (flush_trouble_.empty() ? "" : ": " + flush_trouble_));
  }
  return log_.wait_for_room();
}

Result<> Shard::confirm(std::optional<LogSeq> reflects, Wrote wrote) {
  if (reflects && !mutated(Mutant::ack_before_durable)) {
    MORULA_TRY(log_.wait_to_answer(*reflects));
  }
  if (wrote == Wrote::kNo && !lease_.holds() && !mutated(Mutant::serve_after_lease)) {
    env_.trace.sometimes("an answer was held back for want of a lease", true);
    return fail(ErrorCode::kLeaseLost, "this instance's lease does not hold at the moment");
  }
  return {};
}

Generation Shard::next_generation(std::optional<Generation> last) const {
  return std::max(manifest().mark, last.value_or(Generation(0))) + 1;
}

WallTime Shard::wall() const {
  const WallTime own = env_.clock.wall();
  env_.trace.sometimes("the wall clock was behind what was recorded", own < log_.wall_floor());
  log_.raise_wall_floor(own);
  return mutated(Mutant::wall_floor_ignored) ? own : log_.wall_floor();
}

// A later owner begins with the floor of the manifest, and replays the own log from where the
// manifest says: what was acknowledged before that has been flushed, with a manifest whose floor is
// not below that of the batches cut until then.
WallTime Shard::durable_wall() const {
  if (mutated(Mutant::durable_wall_too_high)) return wall();
  const WallTime flushed = manifest().wall_floor;
  if (log_.acknowledged() <= serves_from_) return flushed;
  return std::max(flushed, log_.acknowledged_floor());
}

void Shard::freeze() {
  if (active_->empty()) return;
  frozen_.push_back(std::exchange(active_, std::make_shared<Memtable>()));
  rebuild_readers();
}

Shard::Figures Shard::figures() const {
  Figures figures;
  figures.memtable_bytes = memtable_bytes();
  for (const ManifestTable& table : manifest().tables) {
    ++figures.tables;
    figures.table_bytes += table.bytes;
    if (table.level == 0) ++figures.unmerged_tables;
  }
  return figures;
}

uint64_t Shard::memtable_bytes() const {
  uint64_t bytes = active_->bytes();
  for (const auto& memtable : frozen_) bytes += memtable->bytes();
  return bytes;
}

bool Shard::flush_due() const {
  const LogSeq acknowledged = log_.acknowledged();
  const LogSeq from = adopted_.from.seq();
  return flush_requested_ || active_->bytes() >= config_.unflushed_bytes_max ||
         (acknowledged > from && acknowledged - from >= config_.held_log_objects_max);
}

void Shard::rebuild_readers() {
  std::array<TreeSources, kTrees.size()> sources;
  for (TreeSources& tree : sources) {
    tree.memtables.push_back(active_);
    tree.memtables.insert(tree.memtables.end(), frozen_.begin(), frozen_.end());
  }
  for (const auto* tables : {&published_, &unpublished_}) {
    for (const NewTable& table : *tables) {
      TreeSources& tree = sources[static_cast<size_t>(table.entry.tree)];
      tree.tables.push_back({table.table, table.entry.clip, table.entry.streams});
    }
  }
  for (const Tree tree : kTrees) {
    const auto at = static_cast<size_t>(tree);
    readers_[at] = std::make_shared<const TreeReader>(tree, std::move(sources[at]));
  }
}

}  // namespace morula
