#include "prod/disk_cache/disk_index.hpp"

#include <algorithm>

#include "core/base/check.hpp"
#include "prod/disk_cache/disk_record.hpp"

namespace morula {
namespace {

constexpr size_t kPlacesMin = 64;
constexpr uint64_t kUnitsMax = 0x7fff;  // what an entry can say: 2 MiB
constexpr uint64_t kTableBytes = 160;   // two tree nodes

uint64_t mixed(uint64_t value) {
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
  value = (value ^ value >> 27) * 0x94d049bb133111eb;
  return value ^ value >> 31;
}

}  // namespace

uint32_t DiskIndex::tag_of(uint64_t offset) {
  return static_cast<uint32_t>(mixed(offset));
}

size_t DiskIndex::home_of(const Entry& entry) const {
  const uint64_t hash = mixed(static_cast<uint64_t>(entry.table) << 32 | entry.tag);
  // The high bits, scaled: any number of places will do.
  return static_cast<size_t>((hash >> 32) * entries_.size() >> 32);
}

size_t DiskIndex::place_of(uint32_t table, uint32_t tag) const {
  Entry wanted;
  wanted.table = table;
  wanted.tag = tag;
  size_t place = home_of(wanted);
  for (;; place = place + 1 == entries_.size() ? 0 : place + 1) {
    const Entry& entry = entries_[place];
    if (entry.slot == kSlotsMax || (entry.table == table && entry.tag == tag)) return place;
  }
}

std::optional<size_t> DiskIndex::place_of(const TierKey& key) const {
  const auto known = tables_.find(key.table);
  if (known == tables_.end()) return std::nullopt;
  const size_t place = place_of(known->second, tag_of(key.offset));
  if (entries_[place].slot == kSlotsMax) return std::nullopt;
  return place;
}

std::optional<DiskIndex::Where> DiskIndex::find(const TierKey& key) {
  const auto place = place_of(key);
  if (!place) return std::nullopt;
  Entry& entry = entries_[*place];
  entry.used = 1;
  return Where{entry.slot, entry.offset};
}

bool DiskIndex::contains(const TierKey& key) const {
  return place_of(key).has_value();
}

void DiskIndex::insert(const TierKey& key, Where where, uint64_t bytes) {
  MORULA_CHECK(where.slot < kSlotsMax);
  // Beyond 17 of 20 the ways to an entry grow long.
  if ((blocks_ + 1) * 20 > entries_.size() * 17) grow();
  const auto known = tables_.try_emplace(key.table, numbers_);
  if (known.second) ++numbers_;
  const uint32_t table = known.first->second;
  const uint32_t tag = tag_of(key.offset);
  Entry& entry = entries_[place_of(table, tag)];
  if (entry.slot == kSlotsMax) {
    ++blocks_;
    ++table_blocks_[table];
  } else {
    slot_units_[entry.slot] -= entry.units;
  }
  entry.table = table;
  entry.tag = tag;
  entry.offset = where.offset;
  entry.slot = where.slot;
  entry.used = 0;
  entry.units = static_cast<uint16_t>(std::min(bytes / kDiskUnit, kUnitsMax) & kUnitsMax);
  if (slot_units_.size() <= where.slot) slot_units_.resize(where.slot + 1);
  slot_units_[where.slot] += entry.units;
}

void DiskIndex::erase(const TierKey& key, Where where) {
  const auto place = place_of(key);
  if (!place || Where{entries_[*place].slot, entries_[*place].offset} != where) return;
  remove_at(*place);
  forget_empty_tables();
}

/// Closes the gap: an entry behind it that would rather be there moves up.
void DiskIndex::remove_at(size_t place) {
  --blocks_;
  slot_units_[entries_[place].slot] -= entries_[place].units;
  --table_blocks_[entries_[place].table];
  const size_t size = entries_.size();
  size_t gap = place;
  for (size_t next = (gap + 1) % size; entries_[next].slot != kSlotsMax; next = (next + 1) % size) {
    const size_t from_home = (next + size - home_of(entries_[next])) % size;
    const size_t from_gap = (next + size - gap) % size;
    if (from_home < from_gap) continue;
    entries_[gap] = entries_[next];
    gap = next;
  }
  entries_[gap] = Entry{};
}

template <class Drop>
void DiskIndex::remove_if(Drop drop) {
  // A removal may move an unseen entry to a place that was passed, around the end: once more.
  for (bool again = true; again;) {
    again = false;
    for (size_t place = 0; place < entries_.size();) {
      const Entry& entry = entries_[place];
      if (entry.slot == kSlotsMax || !drop(entry)) {
        ++place;
        continue;
      }
      again = true;
      remove_at(place);
    }
  }
  forget_empty_tables();
}

void DiskIndex::erase_table(const TierTable& table) {
  const auto known = tables_.find(table);
  if (known == tables_.end()) return;
  const uint32_t number = known->second;
  remove_if([&](const Entry& entry) { return entry.table == number; });
}

std::vector<DiskIndex::Where> DiskIndex::erase_segment(uint16_t slot, Survivors survivors) {
  std::vector<Where> wanted;
  remove_if([&](const Entry& entry) {
    if (entry.slot != slot) return false;
    if (survivors == Survivors::kAll || entry.used != 0) wanted.push_back({slot, entry.offset});
    return true;
  });
  std::ranges::sort(wanted);
  return wanted;
}

void DiskIndex::forget_empty_tables() {
  std::erase_if(tables_, [&](const auto& table) {
    const auto blocks = table_blocks_.find(table.second);
    if (blocks->second > 0) return false;
    table_blocks_.erase(blocks);
    return true;
  });
}

void DiskIndex::grow() {
  std::vector<Entry> before(std::max(kPlacesMin, entries_.size() / 2 * 3));
  before.swap(entries_);
  for (const Entry& entry : before) {
    if (entry.slot != kSlotsMax) entries_[place_of(entry.table, entry.tag)] = entry;
  }
}

uint64_t DiskIndex::live_bytes(uint16_t slot) const {
  return slot < slot_units_.size() ? slot_units_[slot] * kDiskUnit : 0;
}

uint64_t DiskIndex::memory_bytes() const {
  return entries_.capacity() * sizeof(Entry) + tables_.size() * kTableBytes +
         slot_units_.capacity() * sizeof(uint64_t);
}

}  // namespace morula
