#include "core/shard/shard.hpp"

#include <algorithm>
#include <array>
#include <numeric>

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
// Of an append's rows beyond its body: their keys, hot and producer rows, nodes.
constexpr uint64_t kRowsOverhead = kKiB;
// Tables that reads ask one by one, beside what merges leave: between these, writers are slowed
// down.
constexpr uint64_t kSoftStacks = 4;
constexpr uint64_t kHardStacks = 12;
constexpr int64_t kBacklogRetryMs = 1000;

}  // namespace

Shard::Shard(const Env& env, const ShardConfig& config, LogWriter& log, const LeaseView& lease,
             BlockCache& cache, TableNumbers& numbers, Memtables& memtables, AdoptedShard adopted)
    : env_(env),
      config_(config),
      log_(log),
      lease_(lease),
      cache_(cache),
      numbers_(numbers),
      memtables_(memtables),
      adopted_(std::move(adopted)),
      serves_from_(adopted_.from.seq()),
      held_from_(log.appended_bytes()),
      memory_(memtables.memory().memtables.hold(0)) {
  log_.raise_wall_floor(manifest().wall_floor);
  memtables_.began();
  count_unmerged();
  rebuild_readers();
}

Shard::~Shard() {
  retire();
}

Result<> Shard::open_tables() {
  const std::vector<ManifestTable>& entries = manifest().tables;
  std::vector<NewTable> opened(entries.size());
  const auto done =
      for_each_concurrently(entries.size(), kTablesOpenedAtOnce, [&](size_t i) -> Result<> {
        const auto known = std::ranges::find(published_, entries[i].key,
                                             [](const NewTable& table) { return table.entry.key; });
        if (known != published_.end()) {
          opened[i] = {entries[i], known->table, nullptr};
          return {};
        }
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
  account();
  const bool no_room = memtables_.over_soft() && memtables_.is_large(active_->bytes());
  if (active_->bytes() < config_.unflushed_bytes_max && !no_room) {
    memtables_.flush_largest();
    return {};
  }
  freeze();
  auto tables = write_tables(frozen_rows(), Purpose::kFlush);
  MORULA_TRY(tables);
  unpublished_.insert(unpublished_.end(), tables->begin(), tables->end());
  frozen_.clear();
  rebuild_readers();
  account();
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
    answer.error().code = retired_         ? ErrorCode::kMoved
                          : lease_.holds() ? ErrorCode::kCorrupt
                                           : ErrorCode::kLeaseLost;
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
  account();
  flush_if_due();
  memtables_.log_has(seq);
  memtables_.flush_largest();
  return seq;
}

Result<MemoryReservation> Shard::wait_for_room(uint64_t bytes, Change change) {
  auto room = reserve_room(bytes, change);
  if (room && change == Change::kAppends) {
    if (auto turn = wait_for_turn(room->bytes()); !turn) room = fail(turn.error());
  }
  if (!room) {
    memtables_.memory().count(MemoryRefusal::kAppendMemoryBusy);
    env_.trace.sometimes("an append was refused because of a backlog", true);
    return room;
  }
  MORULA_TRY(log_.wait_for_room());
  return room;
}

// Nobody waits for this room: who did would hold a request's memory meanwhile.
Result<MemoryReservation> Shard::reserve_room(uint64_t bytes, Change change) {
  MemoryAccount& account = memtables_.memory().memtables;
  const uint64_t growth = Memtable::growth_max(bytes + kRowsOverhead);
  if (mutated(Mutant::backlog_unbounded)) return account.hold(growth);
  const uint64_t most =
      change == Change::kAppends ? memtables_.hard_bytes() : memtables_.memory().memtables.limit();
  if (account.used() + growth + active_->step_max() > most) {
    memtables_.make_room();
    return fail(backlog_error());
  }
  return account.try_reserve(growth);
}

Result<> Shard::wait_for_turn(uint64_t bytes) {
  const Time now = env_.clock.now();
  const auto turn = pace_.book(now, bytes, write_pressure(), memtables_.memory().memtables.limit(),
                               config_.room_patience);
  if (!turn) return fail(backlog_error());
  if (*turn == now) return {};
  env_.trace.sometimes("an append was slowed down by a backlog", true);
  ++delays_.delayed_writes;
  delays_.delay += *turn - now;
  struct Delayed {
    explicit Delayed(uint64_t& n) : now(n) { ++now; }
    ~Delayed() { --now; }
    uint64_t& now;
  } const delayed(delays_.delayed_now);
  env_.clock.sleep_until(*turn);
  return {};
}

// A merge that fails for good must not stop its shard: too many tables slow writers down, but never
// refuse them.
uint64_t Shard::write_pressure() const {
  const uint64_t memory =
      WritePace::pressure(memtables_.bytes(), memtables_.soft_bytes(), memtables_.hard_bytes());
  const uint64_t stack = config_.compaction.stack_tables;
  const uint64_t tables =
      WritePace::pressure(deepest_stack_, kSoftStacks * stack, kHardStacks * stack);
  return std::min(std::max(memory, tables), WritePace::kFullPressure * 9 / 10);
}

Error Shard::backlog_error() const {
  std::string message = "tables are not written as fast as appends come";
  if (!flush_trouble_.empty()) message += ": " + flush_trouble_;
  return {ErrorCode::kBusy, std::move(message), kBacklogRetryMs};
}

Error Shard::reopened_error() const {
  return {ErrorCode::kBusy, "the shard's manifest was replaced or sealed meanwhile: begins anew"};
}

Generation Shard::next_generation(std::optional<Generation> last) const {
  return std::max(manifest().mark, last.value_or(Generation(0))) + 1;
}

// A later owner begins with the floor of the manifest, and replays the own log from where the
// manifest says: what was acknowledged before that has been flushed, with a manifest whose floor is
// not below that of the batches cut until then.
WallTime Shard::durable_wall() const {
  if (mutated(Mutant::durable_wall_too_high)) return log_.wall();
  const WallTime flushed = manifest().wall_floor;
  if (log_.acknowledged() <= serves_from_) return flushed;
  return std::max(flushed, log_.acknowledged_floor());
}

void Shard::freeze() {
  if (active_->empty()) return;
  account();
  auto memory = std::make_shared<const MemoryReservation>(
      std::exchange(memory_, memtables_.memory().memtables.hold(0)));
  frozen_.push_back(
      {{std::exchange(active_, std::make_shared<Memtable>()), {}}, std::move(memory)});
  rebuild_readers();
}

std::vector<ClippedMemtable> Shard::frozen_rows() const {
  std::vector<ClippedMemtable> rows;
  rows.reserve(frozen_.size());
  for (const Frozen& frozen : frozen_) rows.push_back(frozen.rows);
  return rows;
}

Shard::Figures Shard::figures() const {
  Figures figures = delays_;
  for_each_memtable([&](const Memtable& memtable) { figures.memtable_bytes += memtable.bytes(); });
  for (const ManifestTable& table : manifest().tables) {
    ++figures.tables;
    figures.table_bytes += table.bytes;
  }
  figures.unmerged_tables = unmerged_tables_;
  return figures;
}

void Shard::count_unmerged() {
  std::array<uint64_t, kTrees.size()> counts{};
  for (const ManifestTable& table : manifest().tables) {
    if (table.level == 0) ++counts.at(static_cast<size_t>(table.tree));
  }
  unmerged_tables_ = std::accumulate(counts.begin(), counts.end(), uint64_t{0});
  deepest_stack_ = *std::max_element(counts.begin(), counts.end());
}

void Shard::account() {
  memory_.resize(active_->bytes());
}

uint64_t Shard::unflushed_bytes() const {
  uint64_t bytes = active_->bytes();
  if (mutated(Mutant::inherited_passes_as_flushed)) return bytes;
  // What was inherited is frozen, and nobody flushes it unless he is asked.
  for (size_t i = flushing_; i < frozen_.size(); ++i) bytes += frozen_[i].rows.memtable->bytes();
  return bytes;
}

bool Shard::flush_due() const {
  const LogSeq acknowledged = log_.acknowledged();
  const LogSeq from = adopted_.from.seq();
  return flush_requested_ || unflushed_bytes() >= config_.unflushed_bytes_max ||
         (acknowledged > from && acknowledged - from >= config_.held_log_objects_max) ||
         log_.appended_bytes() - held_from_ >=
             std::max(config_.held_log_bytes_max, config_.unflushed_bytes_max);
}

void Shard::rebuild_readers() {
  std::array<TreeSources, kTrees.size()> sources;
  for (TreeSources& tree : sources) {
    tree.memtables.emplace_back(active_);
    for (const Frozen& frozen : frozen_) tree.memtables.push_back(frozen.rows);
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
