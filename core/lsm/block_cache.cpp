#include "core/lsm/block_cache.hpp"

#include <algorithm>
#include <utility>

#include "core/base/check.hpp"

namespace morula {
namespace {

constexpr uint64_t kSmallShare = 10;  // the small queue's part of the capacity is 1 / this
constexpr uint8_t kUsesMax = 3;
constexpr uint8_t kUsesToStay = 2;  // fewer in the small queue: it goes

uint64_t charge(const Blob& block) {
  return block->size() + BlockCache::kEntryOverhead;
}

}  // namespace

/// Ends a flight whether its load returns or is cancelled.
class BlockCache::FlightGuard {
 public:
  FlightGuard(BlockCache& cache, BlockKey key) : cache_(cache), key_(key) {
    cache_.flights_.emplace(key_, flight_);
  }
  ~FlightGuard() {
    cache_.flights_.erase(key_);
    flight_->over.set();
  }
  FlightGuard(const FlightGuard&) = delete;
  FlightGuard& operator=(const FlightGuard&) = delete;
  Flight& flight() { return *flight_; }

 private:
  BlockCache& cache_;
  BlockKey key_;
  std::shared_ptr<Flight> flight_ = std::make_shared<Flight>();
};

BlockCache::BlockCache(uint64_t capacity_bytes, SecondTier* second)
    : capacity_(capacity_bytes), second_(second) {}

BlockCache::~BlockCache() {
  MORULA_CHECK(flights_.empty(), "a fiber still loads a block");
}

Result<Blob> BlockCache::get(BlockKey key, const Load& load) {
  for (;;) {
    if (Blob block = find(key)) return block;
    const auto found = flights_.find(key);
    if (found == flights_.end()) break;
    const std::shared_ptr<Flight> flight = found->second;
    ++counters_.shared_loads;
    flight->over.wait();
    if (flight->result) return *flight->result;
  }
  FlightGuard guard(*this, key);
  ++counters_.loads;
  Result<Blob> result = load();
  if (result) put(key, *result);
  guard.flight().result = result;
  return result;
}

Blob BlockCache::find(BlockKey key) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return nullptr;
  Entry& entry = found->second;
  entry.uses = std::min<uint8_t>(entry.uses + 1, kUsesMax);
  ++counters_.hits;
  return entry.block;
}

void BlockCache::put(BlockKey key, Blob block) {
  const uint64_t size = charge(block);
  if (size > room() || contains(key)) return;
  const bool in_main = take_ghost(key);
  Queue& queue = in_main ? main_ : small_;
  bytes_ += size;
  if (!in_main) small_bytes_ += size;
  entries_.emplace(key, Entry{std::move(block), queue.insert(queue.end(), key), in_main, 0});
  evict();
}

void BlockCache::evict() {
  while (bytes_ > room()) {
    if (main_.empty() || (small_bytes_ > room() / kSmallShare && !small_.empty())) {
      evict_from_small();
    } else {
      evict_from_main();
    }
  }
  while (ghosts_.size() > entries_.size()) {
    ghost_places_.erase(ghosts_.front());
    ghosts_.pop_front();
  }
}

void BlockCache::evict_from_small() {
  const BlockKey key = small_.front();
  Entry& entry = entries_.at(key);
  if (entry.uses < kUsesToStay) {
    forget(key);
    remember_ghost(key);
    return;
  }
  small_bytes_ -= charge(entry.block);
  main_.splice(main_.end(), small_, entry.place);
  entry.in_main = true;
  entry.uses = 0;
}

void BlockCache::evict_from_main() {
  const BlockKey key = main_.front();
  Entry& entry = entries_.at(key);
  if (entry.uses == 0) return forget(key);
  --entry.uses;
  main_.splice(main_.end(), main_, entry.place);
}

void BlockCache::forget(BlockKey key) {
  const auto found = entries_.find(key);
  const Entry& entry = found->second;
  const uint64_t size = charge(entry.block);
  bytes_ -= size;
  if (!entry.in_main) small_bytes_ -= size;
  (entry.in_main ? main_ : small_).erase(entry.place);
  entries_.erase(found);
  ++counters_.evictions;
}

void BlockCache::remember_ghost(BlockKey key) {
  ghost_places_.emplace(key, ghosts_.insert(ghosts_.end(), key));
}

bool BlockCache::take_ghost(BlockKey key) {
  const auto found = ghost_places_.find(key);
  if (found == ghost_places_.end()) return false;
  ghosts_.erase(found->second);
  ghost_places_.erase(found);
  return true;
}

}  // namespace morula
