// What stream semantics need of the shards that an instance serves: find rows, change rows, and
// know when an answer may be given.
//
// Shards come, go and are exchanged for others below whoever uses this. What is computed from their
// rows therefore holds only while `serves` says so, which may change at every suspension.
#pragma once

#include <optional>

#include "core/base/memory_account.hpp"
#include "core/base/prefix.hpp"
#include "core/base/result.hpp"
#include "core/lsm/changed_rows.hpp"
#include "core/lsm/row.hpp"
#include "core/lsm/tree_reader.hpp"
#include "core/rt/trace.hpp"

namespace morula {

class ShardRows {
 public:
  virtual ~ShardRows() = default;

  /// Whether the shard of `id` is served here: requests of its streams may be decided and changes
  /// applied. What it says may change at every suspension.
  virtual bool serves(StreamId id) const = 0;
  /// Whether there is a shard of exactly this prefix that is served here. As above.
  virtual bool serves(Prefix shard) const = 0;

  // Reads of what is not served here, or not any more, give kMoved.

  /// The hot row of the stream's newest generation, a tombstone included; nullopt when there is
  /// none. May suspend for store reads. kUnavailable, kCorrupt, kMoved.
  virtual Result<std::optional<Row>> find_hot(StreamId id) = 0;
  /// The row of exactly this meta key. May suspend.
  virtual Result<std::optional<Row>> find(std::string_view meta_key) = 0;
  /// See TreeReader::scan_data. May suspend.
  virtual Result<> scan_data(DataScan& scan, const TakeRow& take) = 0;
  /// Rows of the shard's index tree: see TreeReader::scan_range. May suspend.
  virtual Result<> scan_index(Prefix shard, RangeScan& scan, const TakeRow& take) = 0;

  /// Makes the rows visible to the finds above and puts them, as one record, into the log's open
  /// batch. All are of the stream `id`, which is served here. Never suspends. Returns the log
  /// position that holds them.
  virtual LogSeq apply(StreamId id, const ChangedRows& rows) = 0;
  /// Nothing that the finds have shown of this shard, which is served here, lies above it. nullopt:
  /// nothing was applied since it began to be.
  virtual std::optional<LogSeq> applied(Prefix shard) const = 0;

  enum class Change : uint8_t { kAppends, kEnds };
  /// Room in the memtables for a change of `bytes`, which the caller keeps until the change is
  /// applied: call before validating an append. Suspends while the log is over its bound, and for a
  /// moment that grows with what is not yet flushed and merged. kBusy when that would take too long
  /// (deletes and ends come later to it than appends), kShed, kFenced, kMoved; what the store says
  /// (kFull, kDenied, kInvalid, kUnavailable) when it takes no writes.
  virtual Result<MemoryReservation> wait_for_room(StreamId id, uint64_t bytes, Change change) = 0;
  /// Memory for an answer of `bytes`, to be kept as long as the answer. kBusy, kShed.
  virtual Result<MemoryReservation> reserve_read(uint64_t bytes) = 0;
  /// The answer turns out to have `bytes`. kBusy.
  virtual Result<> grow_read(MemoryReservation& read, uint64_t bytes) = 0;

  enum class Wrote : uint8_t { kNo, kYes };
  /// Every answer that was computed from rows passes here, refusals and duplicates included.
  /// Suspends until `reflects` (the position of the last change that the answer shows; nullopt: it
  /// shows only what was durable when the shard began to be served) is acknowledged. An answer that
  /// wrote nothing also needs the lease. kFenced, kLeaseLost: no such answer may be given. Gives up
  /// with what the store says when it takes no writes: the change may still be durable one day.
  virtual Result<> confirm(std::optional<LogSeq> reflects, Wrote wrote) = 0;

  /// max(the mark of the stream's shard, which is served here, and `last`) + 1: what the next
  /// creation of a stream draws.
  virtual Generation next_generation(StreamId id, std::optional<Generation> last) const = 0;
  /// max(wall clock, the highest wall time that log and manifests have recorded).
  virtual WallTime wall() const = 0;
  /// What `wall` is never below again, at whichever owner of the stream, whose shard is served
  /// here: what is answered of a time up to here stays true.
  virtual WallTime durable_wall(StreamId id) const = 0;
};

}  // namespace morula
