// The memtables of all shards of an instance, within the one bound that its memory budget sets for
// them, and the memory for the tables that are made of them.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/memory_budget.hpp"
#include "core/shard/table_memory.hpp"

namespace morula {

class Shard;

class Memtables {
 public:
  /// `memory` outlives it; its shards too.
  explicit Memtables(MemoryBudget& memory) : memory_(memory), table_memory_(memory) {}

  MemoryBudget& memory() { return memory_; }
  const MemoryBudget& memory() const { return memory_; }
  TableMemory& table_memory() { return table_memory_; }

  /// There is one more shard with a memtable.
  void began() { ++live_; }
  /// It has none any more.
  void ended(Shard& shard);
  /// From now on the shard flushes when it is asked.
  void add(Shard& shard) { shards_.push_back(&shard); }

  /// From here on shards are asked to flush, and writers are slowed down.
  uint64_t soft_bytes() const { return memory_.memtables.limit() / 2; }
  /// From here on appends are refused. The rest is for deletes and ends of streams, and for what a
  /// memtable takes at once for many rows.
  uint64_t hard_bytes() const { return memory_.memtables.limit() / 16 * 15; }
  uint64_t bytes() const { return memory_.memtables.used(); }
  bool over_soft() const { return bytes() >= soft_bytes(); }

  /// Somebody found no room: asks the shard that has most unflushed.
  void make_room();
  /// While more than the soft bound is neither flushed nor being flushed: asks the shard that has
  /// most of it.
  void flush_largest();
  /// The log has come to `seq`. Whoever has nothing to flush holds the log back all the same: asks
  /// one of the shards that hold back too much of it. One per batch, in turns, so that their swaps
  /// don't come all at once.
  void log_has(LogSeq seq);
  /// Whether a shard with `bytes` has an equal share or more.
  bool is_large(uint64_t bytes) const { return bytes * live_ >= this->bytes(); }

 private:
  MemoryBudget& memory_;
  TableMemory table_memory_;
  size_t live_ = 0;             // shards, those that are only being opened included
  std::vector<Shard*> shards_;  // that flush, in the order in which they began to
  size_t turn_ = 0;             // in them, of who is asked because of the log
  LogSeq log_end_;              // when one was last looked for
};

}  // namespace morula
