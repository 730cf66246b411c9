#include "prod/disk_cache/disk_index.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "prod/disk_cache/disk_record.hpp"

namespace morula {
namespace {

TierKey key_of(uint64_t n) {
  return {{{n % 5, 7}, n % 3}, n * 4096};
}

RC_GTEST_PROP(DiskIndex, HasWhatAMapWouldHave, ()) {
  DiskIndex index;
  std::map<TierKey, DiskIndex::Where> model;
  std::map<TierKey, bool> used;
  const auto erase_if = [&](auto drop) {
    std::erase_if(model, [&](const auto& entry) { return drop(entry.first, entry.second); });
  };
  const auto steps = *rc::gen::container<std::vector<std::pair<int, uint64_t>>>(
      rc::gen::pair(rc::gen::inRange(0, 14), rc::gen::inRange<uint64_t>(0, 400)));
  uint32_t next = 0;
  for (const auto& [what, n] : steps) {
    const TierKey key = key_of(n);
    if (what < 9) {
      // Several at once, so that it grows.
      for (uint64_t more = 0; more < 20; ++more) {
        const TierKey one = key_of(n + more * 3);
        const DiskIndex::Where where{static_cast<uint16_t>(n % 6), next++};
        index.insert(one, where, kDiskUnit);
        model[one] = where;
        used[one] = false;
      }
    } else if (what < 11) {
      const auto found = index.find(key);
      RC_ASSERT(found.has_value() == model.contains(key));
      if (found) {
        RC_ASSERT(*found == model[key]);
        used[key] = true;
      }
    } else if (what == 11) {
      index.erase_table(key.table);
      erase_if([&](const TierKey& k, const DiskIndex::Where&) { return k.table == key.table; });
    } else if (what == 12) {
      const auto slot = static_cast<uint16_t>(n % 6);
      const auto survivors = n % 2 == 0 ? DiskIndex::Survivors::kUsed : DiskIndex::Survivors::kAll;
      uint64_t live = 0;
      std::vector<DiskIndex::Where> expected;
      for (const auto& [k, where] : model) {
        if (where.slot != slot) continue;
        ++live;
        if (used[k] || n % 2 == 1) expected.push_back(where);
      }
      std::ranges::sort(expected);
      RC_ASSERT(index.live_bytes(slot) == live * kDiskUnit);
      RC_ASSERT(index.erase_segment(slot, survivors) == expected);
      erase_if([&](const TierKey&, const DiskIndex::Where& where) { return where.slot == slot; });
      RC_ASSERT(index.live_bytes(slot) == 0u);
    } else if (model.contains(key)) {
      index.erase(key, {99, 0});  // it has moved meanwhile: stays
      RC_ASSERT(index.contains(key));
      index.erase(key, model[key]);
      model.erase(key);
    }
    RC_ASSERT(index.blocks() == model.size());
  }
  for (uint64_t n = 0; n < 500; ++n) {
    RC_ASSERT(index.contains(key_of(n)) == model.contains(key_of(n)));
  }
}

TEST(DiskIndex, TakesAtMost32BytesABlock) {
  DiskIndex index;
  for (uint64_t n = 0; n < 100'000; ++n) {
    index.insert({{{1, 2}, n % 50}, n * 4096}, {0, static_cast<uint32_t>(n)}, 4096);
    if (n < 5000) continue;
    ASSERT_LE(index.memory_bytes(), index.blocks() * 32) << n;
  }
}

}  // namespace
}  // namespace morula
