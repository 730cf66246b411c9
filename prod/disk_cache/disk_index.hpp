// What a disk cache has, and where: 16 bytes of memory for each block, 28 at most with the room
// that the table of them needs to stay fast. That room stays when blocks go.
//
// An entry has no whole key: of the table it has a small number, of the block's offset a hash. Two
// blocks that look alike share one entry; the record on disk tells whose it is.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/lsm/second_tier.hpp"

namespace morula {

/// Not thread-safe.
class DiskIndex {
 public:
  /// Where a record lies: `slot` is the segment's, below kSlotsMax; `offset` in units of kDiskUnit.
  struct Where {
    uint16_t slot = 0;
    uint32_t offset = 0;
    friend auto operator<=>(const Where&, const Where&) = default;
  };
  static constexpr uint16_t kSlotsMax = 0xffff;

  /// Marks it as used.
  std::optional<Where> find(const TierKey& key);
  bool contains(const TierKey& key) const;
  /// Replaces what it had under the key. The record takes `bytes` there.
  void insert(const TierKey& key, Where where, uint64_t bytes);
  /// Only if the key is at `where`.
  void erase(const TierKey& key, Where where);
  void erase_table(const TierTable& table);
  enum class Survivors : uint8_t { kUsed, kAll };
  /// Takes out what lies in this segment; returns where all of it was, or what had been used,
  /// ascending.
  std::vector<Where> erase_segment(uint16_t slot, Survivors survivors);

  uint64_t blocks() const { return blocks_; }
  /// What the records in the segment take; of very large ones, less.
  uint64_t live_bytes(uint16_t slot) const;
  uint64_t memory_bytes() const;

 private:
  struct Entry {
    uint32_t table = 0;  // its number here
    uint32_t tag = 0;    // of the block's offset
    uint32_t offset = 0;
    uint16_t slot = kSlotsMax;  // none: the entry is empty
    uint16_t used : 1 = 0;
    uint16_t units : 15 = 0;  // that it takes
  };
  static_assert(sizeof(Entry) == 16);

  static uint32_t tag_of(uint64_t offset);
  size_t home_of(const Entry& entry) const;
  /// Where the entry is; or the empty place where it would go. There are empty places.
  size_t place_of(uint32_t table, uint32_t tag) const;
  std::optional<size_t> place_of(const TierKey& key) const;
  void remove_at(size_t place);
  template <class Drop>
  void remove_if(Drop drop);
  void grow();
  void forget_empty_tables();

  std::vector<Entry> entries_;
  uint64_t blocks_ = 0;
  uint32_t numbers_ = 0;
  std::map<TierTable, uint32_t> tables_;
  std::map<uint32_t, uint64_t> table_blocks_;  // by number
  std::vector<uint64_t> slot_units_;
};

}  // namespace morula
