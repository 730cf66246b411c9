// What stream semantics need of the shard that holds a stream: find rows, change rows, and know
// when an answer may be given.
#pragma once

#include <optional>

#include "core/base/memory_account.hpp"
#include "core/base/result.hpp"
#include "core/lsm/changed_rows.hpp"
#include "core/lsm/row.hpp"
#include "core/lsm/tree_reader.hpp"
#include "core/rt/trace.hpp"

namespace morula {

class ShardRows {
 public:
  virtual ~ShardRows() = default;

  /// The hot row of the stream's newest generation, a tombstone included; nullopt when there is
  /// none. May suspend for store reads. kUnavailable, kCorrupt.
  virtual Result<std::optional<Row>> find_hot(StreamId id) = 0;
  /// The row of exactly this meta key. May suspend.
  virtual Result<std::optional<Row>> find(std::string_view meta_key) = 0;
  /// See TreeReader::scan_data. May suspend.
  virtual Result<> scan_data(DataScan& scan, const TakeRow& take) = 0;
  /// Rows of the index tree: see TreeReader::scan_range. May suspend.
  virtual Result<> scan_index(RangeScan& scan, const TakeRow& take) = 0;

  /// Makes the rows visible to the finds above and puts them, as one record, into the log's open
  /// batch. All are of the stream `id`. Never suspends. Returns the log position that holds them.
  virtual LogSeq apply(StreamId id, const ChangedRows& rows) = 0;
  /// What the latest `apply` returned: nothing that the finds have shown lies above it. nullopt:
  /// nothing was applied since the shard began to serve.
  virtual std::optional<LogSeq> applied() const = 0;

  enum class Change : uint8_t { kAppends, kEnds };
  /// Room in the memtables for a change of `bytes`, which the caller keeps until the change is
  /// applied: call before validating an append. Suspends while the log is over its bound, and for a
  /// moment that grows with what is not yet flushed and merged. kBusy when that would take too long
  /// (deletes and ends come later to it than appends), kShed, kFenced; what the store says (kFull,
  /// kDenied, kInvalid, kUnavailable) when it takes no writes.
  virtual Result<MemoryReservation> wait_for_room(uint64_t bytes, Change change) = 0;
  /// Memory for an answer of `bytes`, to be kept as long as the answer. kBusy, kShed.
  virtual Result<MemoryReservation> reserve_read(uint64_t bytes) = 0;
  /// The answer turns out to have `bytes`. kBusy.
  virtual Result<> grow_read(MemoryReservation& read, uint64_t bytes) = 0;

  enum class Wrote : uint8_t { kNo, kYes };
  /// Every answer that was computed from this shard passes here, refusals and duplicates included.
  /// Suspends until `reflects` (the position of the last change that the answer shows; nullopt: it
  /// shows only what was durable when the shard began to serve) is acknowledged. An answer that
  /// wrote nothing also needs the lease. kFenced, kLeaseLost, kMoved: no such answer may be given.
  /// Gives up with what the store says when it takes no writes: the change may still be durable one
  /// day.
  virtual Result<> confirm(std::optional<LogSeq> reflects, Wrote wrote) = 0;

  /// max(the shard's mark, `last`) + 1: what the next creation of a stream draws.
  virtual Generation next_generation(std::optional<Generation> last) const = 0;
  /// max(wall clock, the highest wall time that log and manifest have recorded).
  virtual WallTime wall() const = 0;
  /// What `wall` is never below again, at whichever owner: what is answered of a time up to here
  /// stays true.
  virtual WallTime durable_wall() const = 0;
};

}  // namespace morula
