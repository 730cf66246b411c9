// One shard at its owner: its rows in memtables and tables, and what is flushed and when.
//
// A change is visible to the finds at once and durable when its log batch is acknowledged;
// `ShardRows::confirm` stands between the two. The shard pins the log from the `from` of its
// manifest's own entry, so that trim keeps what a taker would replay. Which shards are asked for
// what is in core/shard/served_shards.hpp.
//
// A split or merge makes new shards of it, which share what it has in memory; then it is *retired*:
// reads that are under way end on it, and it changes nothing more.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/lsm/block_cache.hpp"
#include "core/lsm/compaction.hpp"
#include "core/lsm/compaction_merge.hpp"
#include "core/lsm/memtable.hpp"
#include "core/lsm/table_builder.hpp"
#include "core/lsm/tree_reader.hpp"
#include "core/rt/env.hpp"
#include "core/rt/sync.hpp"
#include "core/shard/adopted_shard.hpp"
#include "core/shard/lease_view.hpp"
#include "core/shard/memtables.hpp"
#include "core/shard/shard_config.hpp"
#include "core/shard/shard_rows.hpp"
#include "core/shard/table_numbers.hpp"
#include "core/shard/write_pace.hpp"

namespace morula {

class Shard {
 public:
  /// All references outlive the shard and its fibers.
  Shard(const Env& env, const ShardConfig& config, LogWriter& log, const LeaseView& lease,
        BlockCache& cache, TableNumbers& numbers, Memtables& memtables, AdoptedShard adopted);
  ~Shard();
  Shard(const Shard&) = delete;
  Shard& operator=(const Shard&) = delete;

  /// Opens the tables that the manifest names, as far as they aren't. Before anything else.
  /// Suspends.
  Result<> open_tables();
  /// A record of a closed log range of the manifest (see replay.hpp). May suspend to spill a full
  /// memtable into a table, which the next flush publishes.
  Result<> replay(const LogRecord& record);
  /// Flushes whenever a bound is reached, until the log is fenced or the manifest was sealed by
  /// another. A fiber of its own. Suspends; throws Cancelled.
  void run_flusher();
  /// Merges tables whenever a level is full, until the manifest was sealed by another. A fiber of
  /// its own. Suspends; throws Cancelled.
  void run_compactor();
  /// Asks the flusher for a flush, whatever the bounds.
  void request_flush();
  /// Asks for one if a bound is reached. False: none is.
  bool flush_if_due();

  // A change of the shard's row in the topology (core/cell/shard_changes.hpp).

  /// Held while one is open: flush and compaction wait (OWNERSHIP R5).
  Mutex& manifest_mutex() { return manifest_mutex_; }
  enum class Swapped : uint8_t { kDone, kSealed };
  /// The caller holds the mutex. kSealed: somebody else has sealed it. Suspends.
  Result<Swapped> Seal();
  /// False while tables of a replay wait to be named by the shard's own manifest: it has to be
  /// flushed first.
  bool may_change() const { return unpublished_.empty(); }
  /// The topology names another manifest for the shard now, with the same content. The caller holds
  /// the mutex.
  void reopen(AdoptedShard reopened);
  /// A shard that was opened before the topology named it: what was named then. Tables that are
  /// open already stay so. False: what was replayed may be outdated (see replay.hpp), and `named`
  /// is as it was. Suspends.
  Result<bool> settle(AdoptedShard& named);
  /// Takes all that the shards before it had in memory, for its part of the hash space. They put
  /// nothing any more; they are to be retired. Before anything else; never suspends.
  void inherit(std::span<Shard* const> before);
  /// Ends its fibers. From now on it has no pin of the log and no memtables of its own.
  void retire();
  /// Its present place in the log, for those that follow it.
  LogSeq from() const { return adopted_.from.seq(); }
  /// What has been replayed into it.
  const std::vector<ManifestLog>& replayed() const { return replayed_; }
  void note_replayed(ManifestLog range) { replayed_.push_back(std::move(range)); }

  struct Figures {
    uint64_t memtable_bytes = 0;  // not in tables yet
    uint64_t tables = 0;
    uint64_t table_bytes = 0;
    uint64_t unmerged_tables = 0;  // of level 0: what a read has to ask one by one
    uint64_t delayed_writes = 0;   // because of a backlog
    uint64_t delayed_now = 0;
    Duration delay{};  // of all of them together
  };
  Figures figures() const;
  /// Neither in tables nor on the way into one.
  uint64_t unflushed_bytes() const;

  Prefix prefix() const { return adopted_.prefix; }
  Epoch epoch() const { return adopted_.epoch; }
  const std::string& manifest_key() const { return adopted_.manifest_key; }
  const Manifest& manifest() const { return adopted_.manifest.content; }
  /// Calls `each` with every memtable that it reads.
  template <class Each>
  void for_each_memtable(Each each) const {
    each(*active_);
    for (const Frozen& frozen : frozen_) each(*frozen.rows.memtable);
  }

  // What `ShardRows` says, of this shard. The caller holds it during each call: it may have been
  // exchanged for others when the call returns. The finds and scans also give kLeaseLost.
  using Change = ShardRows::Change;
  Result<std::optional<Row>> find_hot(StreamId id);
  Result<std::optional<Row>> find(std::string_view meta_key);
  Result<> scan_data(DataScan& scan, const TakeRow& take);
  Result<> scan_index(RangeScan& scan, const TakeRow& take);
  LogSeq apply(StreamId id, const ChangedRows& rows);
  std::optional<LogSeq> applied() const { return applied_; }
  Result<MemoryReservation> wait_for_room(uint64_t bytes, Change change);
  Generation next_generation(std::optional<Generation> last) const;
  WallTime durable_wall() const;

 private:
  struct NewTable {
    ManifestTable entry;
    std::shared_ptr<const Table> table;
    std::shared_ptr<const TableNumbers::Draft> draft;  // null once a manifest names it
  };
  /// A memtable that is put into no more, and the memory that it takes until nobody has it.
  struct Frozen {
    ClippedMemtable rows;
    std::shared_ptr<const MemoryReservation> memory;
  };
  /// For which manifest something is made.
  using MadeFor = std::string;

  Result<Swapped> Flush();
  Result<Swapped> Compact(const CompactionPlan& plan);
  /// Swaps the manifest for `next`, which was made from the present one while `manifest_mutex_` is
  /// held since.
  Result<Swapped> swap_manifest(Manifest next, Purpose purpose);
  struct MergeMemory {
    uint64_t window = 0;  // read at once, of each table
    uint64_t bytes = 0;   // all windows, and the table that is written
  };
  /// Within what is set aside for merges, however many tables there are, unless a section of each
  /// is more than that.
  MergeMemory memory_of(const CompactionPlan& plan) const;
  CompactionMerge merge_of(const CompactionPlan& plan, uint64_t window) const;
  /// The merged tables, uploaded and open; takes so many bytes of memory meanwhile.
  Result<std::vector<NewTable>> merge_tables(CompactionMerge& merge, const CompactionPlan& plan,
                                             uint64_t bytes);
  TableScan scan_of(const NewTable& table, uint64_t window, std::string first = {}) const;
  /// Tables of all rows of `memtables`, of level 0, uploaded and open.
  Result<std::vector<NewTable>> write_tables(const std::vector<ClippedMemtable>& memtables,
                                             Purpose purpose);
  std::vector<ClippedMemtable> frozen_rows() const;
  /// Whether what was made for a manifest may be published now: it is the shard's, and not sealed
  /// (OWNERSHIP R0, R8). The mutex is held.
  bool may_publish(const MadeFor& made_for) const;
  Result<NewTable> upload(ManifestTable entry, BuiltTable built, Purpose purpose);
  Result<std::shared_ptr<const Table>> open_table(const ManifestTable& entry, Purpose purpose);
  /// The manifest names these now.
  void publish(std::vector<NewTable> tables);
  Manifest flushed_manifest(LogSeq from, const std::vector<NewTable>& tables) const;
  Result<MemoryReservation> reserve_room(uint64_t bytes, Change change);
  Result<> wait_for_turn(uint64_t bytes);
  Error backlog_error() const;
  Error reopened_error() const;
  uint64_t write_pressure() const;
  void count_unmerged();
  void freeze();
  void thaw();
  /// The memtables have grown or gone.
  void account();
  bool flush_due() const;
  void rebuild_readers();
  /// Calls `read` with the present reader of `tree`, and again with its successor if a table went
  /// away meanwhile because it had been merged.
  template <class Read>
  auto read_with(Tree tree, Read read);

  const Env env_;
  const ShardConfig config_;
  LogWriter& log_;
  const LeaseView& lease_;
  BlockCache& cache_;
  TableNumbers& numbers_;
  Memtables& memtables_;
  AdoptedShard adopted_;
  LogSeq serves_from_;                  // of the own log: what is acknowledged from here is found
  uint64_t held_from_;                  // the log's bytes before the own entry begins
  std::optional<WallTime> flushed_at_;  // the time of the cut of the last flush

  std::shared_ptr<Memtable> active_ = std::make_shared<Memtable>();
  std::vector<Frozen> frozen_;                                            // oldest first
  size_t flushing_ = 0;                                                   // of these, the oldest
  std::vector<NewTable> published_;                                       // that the manifest names
  std::vector<NewTable> unpublished_;                                     // spilled during replay
  std::array<std::shared_ptr<const TreeReader>, kTrees.size()> readers_;  // by Tree
  std::optional<LogSeq> applied_;

  std::string record_;  // the latest; keeps its memory for the next
  bool flush_requested_ = false;
  std::string flush_trouble_;  // why the latest flush failed; empty: it didn't
  WaitList flusher_;
  WaitList compactor_;
  Mutex manifest_mutex_;  // from making a new version of the manifest until it has landed or not
  bool retired_ = false;
  std::vector<ManifestLog> replayed_;
  MemoryReservation memory_;  // of the active memtable
  WritePace pace_;
  uint64_t unmerged_tables_ = 0;  // that the manifest names in level 0
  uint64_t deepest_stack_ = 0;    // of these, those of one tree
  Figures delays_;                // only what is about them
};

}  // namespace morula
