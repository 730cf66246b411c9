// The memtables of all shards of an instance, within the one bound that its memory budget sets for
// them, and the memory for the tables that are made of them.
#pragma once

#include <cstdint>
#include <vector>

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

  /// The shard flushes when it is asked, until it is removed.
  void add(Shard& shard) { shards_.push_back(&shard); }
  void remove(Shard& shard) { std::erase(shards_, &shard); }

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
  /// Whether a shard with `bytes` has an equal share or more.
  bool is_large(uint64_t bytes) const { return bytes * (shards_.size() + 1) >= this->bytes(); }

 private:
  MemoryBudget& memory_;
  TableMemory table_memory_;
  std::vector<Shard*> shards_;  // that flush, in the order in which they began to
};

}  // namespace morula
