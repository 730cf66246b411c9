// Memory for the tables that the shards of an instance are writing. Shards flush and merge on their
// own, and a cell may have hundreds; each waits here until there is room for its tables, in the
// order of arrival. Flushes and merges do not wait for each other: a flush that waited for a long
// merge would stop appends.
#pragma once

#include <cstdint>
#include <utility>

#include "core/base/memory_budget.hpp"
#include "core/base/mutant.hpp"
#include "core/rt/sync.hpp"

namespace morula {

class TableMemory {
 public:
  /// Of one flush or merge, given back when this goes. Movable.
  class Room {
   public:
    ~Room() {
      if (turns_ != nullptr) turns_->release(units_);
    }
    Room(Room&& other) noexcept
        : turns_(std::exchange(other.turns_, nullptr)),
          units_(other.units_),
          held_(std::move(other.held_)) {}
    Room& operator=(Room&&) = delete;

   private:
    friend class TableMemory;
    Room(WeightedSemaphore& turns, uint64_t units, MemoryReservation held)
        : turns_(&turns), units_(units), held_(std::move(held)) {}

    WeightedSemaphore* turns_;
    uint64_t units_;
    MemoryReservation held_;
  };

  /// `memory` outlives it.
  explicit TableMemory(MemoryBudget& memory)
      : memory_(memory),
        flushes_(memory.flushes.limit()),
        compactions_(memory.compactions.limit()) {}

  /// Suspends until there is room for `bytes`; who needs more than there is goes alone.
  Room for_flush(uint64_t bytes) { return take(flushes_, memory_.flushes, bytes); }
  Room for_compaction(uint64_t bytes) { return take(compactions_, memory_.compactions, bytes); }

 private:
  static Room take(WeightedSemaphore& turns, MemoryAccount& account, uint64_t bytes) {
    const uint64_t units = mutated(Mutant::tables_without_turn) ? 0 : turns.acquire(bytes);
    return {turns, units, account.hold(bytes)};
  }

  MemoryBudget& memory_;
  WeightedSemaphore flushes_;
  WeightedSemaphore compactions_;
};

}  // namespace morula
