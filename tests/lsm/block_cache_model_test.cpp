// The cache against the plainest S3-FIFO there can be: three lists, searched from end to end.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <deque>
#include <set>

#include "core/lsm/block_cache.hpp"
#include "core/rt/random.hpp"

namespace morula {
namespace {

constexpr uint64_t kOverhead = BlockCache::kEntryOverhead;

class PlainS3Fifo {
 public:
  explicit PlainS3Fifo(uint64_t capacity) : capacity_(capacity) {}

  bool contains(uint64_t key) const {
    return place_of(small_, key) < small_.size() || place_of(main_, key) < main_.size();
  }
  void use(uint64_t key) {
    for (auto* queue : {&small_, &main_}) {
      const size_t at = place_of(*queue, key);
      if (at < queue->size()) (*queue)[at].uses = std::min((*queue)[at].uses + 1, 3);
    }
  }
  void put(uint64_t key, uint64_t bytes) {
    if (bytes > capacity_ || contains(key)) return;
    const auto ghost = std::ranges::find(ghosts_, key);
    const bool known = ghost != ghosts_.end();
    if (known) ghosts_.erase(ghost);
    (known ? main_ : small_).push_back({key, bytes, 0});
    while (sum(small_) + sum(main_) > capacity_) evict();
    while (ghosts_.size() > small_.size() + main_.size()) ghosts_.pop_front();
  }
  uint64_t bytes() const { return sum(small_) + sum(main_); }

 private:
  struct Entry {
    uint64_t key;
    uint64_t bytes;
    int uses;
  };
  using Queue = std::deque<Entry>;

  static size_t place_of(const Queue& queue, uint64_t key) {
    const auto found = std::ranges::find(queue, key, &Entry::key);
    return static_cast<size_t>(found - queue.begin());
  }
  static uint64_t sum(const Queue& queue) {
    uint64_t bytes = 0;
    for (const Entry& entry : queue) bytes += entry.bytes;
    return bytes;
  }
  void evict() {
    if (main_.empty() || (sum(small_) > capacity_ / 10 && !small_.empty())) {
      Entry entry = small_.front();
      small_.pop_front();
      if (entry.uses >= 2) {
        main_.push_back({entry.key, entry.bytes, 0});
        return;
      }
      ghosts_.push_back(entry.key);
      return;
    }
    Entry entry = main_.front();
    main_.pop_front();
    if (entry.uses > 0) main_.push_back({entry.key, entry.bytes, entry.uses - 1});
  }

  uint64_t capacity_;
  Queue small_;
  Queue main_;
  std::deque<uint64_t> ghosts_;
};

RC_GTEST_PROP(BlockCache, KeepsWhatThePlainestS3FifoKeeps, ()) {
  Random random(*rc::gen::arbitrary<uint64_t>());
  const uint64_t capacity = random.between(1'000, 60'000);
  BlockCache cache(capacity);
  PlainS3Fifo model(capacity);
  const uint64_t keys = random.between(5, 120);
  for (int i = 0; i < 600; ++i) {
    // Few keys are asked for often.
    const uint64_t n = random.below(random.chance(1, 2) ? keys : keys / 5 + 1);
    const uint64_t bytes = 100 + n % 7 * 300;
    if (cache.find({1, n}) != nullptr) {
      model.use(n);
    } else {
      cache.put({1, n}, make_blob(std::string(bytes, 'x')));
      model.put(n, bytes + kOverhead);
    }
    for (uint64_t key = 0; key < keys; ++key) {
      RC_ASSERT(cache.contains({1, key}) == model.contains(key));
    }
    RC_ASSERT(cache.bytes() == model.bytes());
  }
}

/// Least recently used, of as many blocks.
class Lru {
 public:
  explicit Lru(size_t blocks) : blocks_(blocks) {}
  bool ask(uint64_t n) {
    const auto found = std::ranges::find(recent_, n);
    const bool hit = found != recent_.end();
    if (hit) recent_.erase(found);
    recent_.push_front(n);
    if (recent_.size() > blocks_) recent_.pop_back();
    return hit;
  }

 private:
  size_t blocks_;
  std::deque<uint64_t> recent_;
};

// Streams are asked for by rank (half of all asks go to a twentieth of them), and now and then a
// backup reads everything.
TEST(BlockCache, HitsMoreThanLeastRecentlyUsedWouldWhereScansComeBetween) {
  constexpr size_t kBlocks = 100;
  constexpr uint64_t kBytes = 4096 - kOverhead;
  BlockCache cache(kBlocks * 4096);
  Lru lru(kBlocks);
  Random random(3);
  uint64_t asked = 0;
  uint64_t hits = 0;
  uint64_t lru_hits = 0;
  const auto ask = [&](uint64_t n) {
    const bool hit = cache.find({1, n}) != nullptr;
    if (!hit) cache.put({1, n}, make_blob(std::string(kBytes, 'x')));
    const bool lru_hit = lru.ask(n);
    return std::pair(hit, lru_hit);
  };
  for (int round = 0; round < 40; ++round) {
    for (int i = 0; i < 500; ++i) {
      const auto [hit, lru_hit] = ask(random.below(random.chance(1, 2) ? 50 : 1000));
      ++asked;
      hits += hit ? 1 : 0;
      lru_hits += lru_hit ? 1 : 0;
    }
    for (uint64_t n = 0; n < 300; ++n) ask(10'000 + round * 300 + n);
  }
  EXPECT_GT(hits, lru_hits + asked / 20) << hits << " and " << lru_hits << " of " << asked;
}

TEST(BlockCache, AChargeLeavesLessForBlocks) {
  BlockCache cache(10 * 4096);
  for (uint64_t n = 0; n < 10; ++n)
    cache.put({1, n}, make_blob(std::string(4096 - kOverhead, 'x')));
  EXPECT_EQ(cache.bytes(), 10u * 4096);
  {
    BlockCache::Charge charge(cache, 3 * 4096);
    EXPECT_EQ(cache.bytes(), 10u * 4096);
    EXPECT_EQ(cache.charged_bytes(), 3u * 4096);
    BlockCache::Charge moved = std::move(charge);
    EXPECT_EQ(cache.charged_bytes(), 3u * 4096);
    const BlockCache::Charge too_much(cache, 100 * 4096);
    EXPECT_EQ(cache.bytes(), cache.charged_bytes());
  }
  EXPECT_EQ(cache.bytes(), 0u);
}

}  // namespace
}  // namespace morula
