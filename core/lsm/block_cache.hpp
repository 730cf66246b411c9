// Blocks of tables in memory, within a bound: blocks of rows, and sections' own blocks alike.
//
// Eviction is S3-FIFO (Yang et al., "FIFO queues are all you need for cache eviction", SOSP 2023):
// a new block enters a small queue and passes to the main one only if it is asked for again, so
// that a scan goes through without driving out what is in use. A block that has just fallen out of
// the small queue and comes back enters the main one at once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "core/base/bytes.hpp"
#include "core/base/result.hpp"
#include "core/lsm/second_tier.hpp"
#include "core/rt/sync.hpp"

namespace morula {

/// Names a block: the table by the number that `BlockCache::next_table` gave it, and the offset in
/// the table's object.
struct BlockKey {
  uint64_t table = 0;
  uint64_t offset = 0;
  friend auto operator<=>(const BlockKey&, const BlockKey&) = default;
};

class BlockCache {
 public:
  /// What a block takes beyond its bytes, on 64 bits: tree node 96, list node 48, the blob and its
  /// control block 80, and as many ghosts as blocks, 112 each. (Measured: a full cache of 4 KB
  /// blocks takes 336 beyond each.)
  static constexpr uint64_t kEntryOverhead = 336;

  /// A capacity of 0 keeps nothing; loads are still shared.
  /// `second` (null: none) outlives it; what that needs of memory counts as charged.
  explicit BlockCache(uint64_t capacity_bytes, SecondTier* second = nullptr);
  ~BlockCache();
  BlockCache(const BlockCache&) = delete;
  BlockCache& operator=(const BlockCache&) = delete;

  SecondTier* second_tier() const { return second_; }

  uint64_t next_table() { return ++tables_; }

  using Load = std::function<Result<Blob>()>;
  /// The block, from memory or from `load`, which may suspend and is called at most once at a time
  /// for a key: others who ask meanwhile wait and share its result, errors included. When the
  /// loading fiber is cancelled, one of the waiting ones loads. The blob outlives its eviction.
  Result<Blob> get(BlockKey key, const Load& load);

  /// Null when it isn't in memory. Never suspends. Counts as a use.
  Blob find(BlockKey key);
  bool contains(BlockKey key) const { return entries_.contains(key); }
  /// Keeps a block that came along with another.
  void put(BlockKey key, Blob block);

  /// For blocks that are kept now, their bytes and a fixed overhead each; and all charges.
  uint64_t bytes() const { return bytes_ + charged_bytes(); }
  /// The charges alone.
  uint64_t charged_bytes() const {
    return charged_ + (second_ == nullptr ? 0 : second_->memory_bytes());
  }
  uint64_t capacity_bytes() const { return capacity_; }

  struct Counters {
    uint64_t hits = 0;
    uint64_t loads = 0;
    uint64_t shared_loads = 0;  // waited for another's load
    uint64_t evictions = 0;
  };
  const Counters& counters() const { return counters_; }

  /// Memory that is needed as long as this lives, and leaves so much less for blocks.
  class Charge {
   public:
    Charge() = default;
    Charge(BlockCache& cache, uint64_t bytes) : cache_(&cache), bytes_(bytes) {
      cache.charged_ += bytes;
      cache.evict();
    }
    ~Charge() {
      if (cache_ != nullptr) cache_->charged_ -= bytes_;
    }
    Charge(Charge&& other) noexcept { swap(other); }
    Charge& operator=(Charge&& other) noexcept {
      swap(other);
      return *this;
    }

   private:
    void swap(Charge& other) noexcept {
      std::swap(cache_, other.cache_);
      std::swap(bytes_, other.bytes_);
    }
    BlockCache* cache_ = nullptr;
    uint64_t bytes_ = 0;
  };

 private:
  using Queue = std::list<BlockKey>;  // oldest first
  struct Entry {
    Blob block;
    Queue::iterator place;
    bool in_main = false;
    uint8_t uses = 0;  // since it entered its queue; counted up to 3
  };
  struct Flight {
    Event over;
    std::optional<Result<Blob>> result;  // none when the loading fiber was cancelled
  };
  class FlightGuard;

  /// What the charges leave.
  uint64_t room() const { return capacity_ - std::min(capacity_, charged_bytes()); }
  void evict();
  void evict_from_small();
  void evict_from_main();
  void forget(BlockKey key);
  void remember_ghost(BlockKey key);
  bool take_ghost(BlockKey key);

  const uint64_t capacity_;
  SecondTier* const second_;
  uint64_t bytes_ = 0;
  uint64_t charged_ = 0;
  uint64_t small_bytes_ = 0;
  uint64_t tables_ = 0;
  std::map<BlockKey, Entry> entries_;
  Queue small_;
  Queue main_;
  Queue ghosts_;  // keys that left the small queue unused, at most as many as there are entries
  std::map<BlockKey, Queue::iterator> ghost_places_;
  std::map<BlockKey, std::shared_ptr<Flight>> flights_;
  Counters counters_;
};

}  // namespace morula
