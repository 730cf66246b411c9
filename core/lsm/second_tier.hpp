// A second, larger tier below the block cache: blocks as the store has them, kept where reading
// costs no request. It may lose, mix up or damage whatever it was given, at any time: whoever reads
// from it checks the bytes as if they came from anywhere, and then asks the store.
//
// In production it is a directory on a local disk (prod/disk_cache), which survives a restart.
#pragma once

#include <compare>
#include <cstdint>
#include <string_view>

#include "core/base/bytes.hpp"
#include "core/base/ids.hpp"

namespace morula {

/// Names a table for good, in any process: its writer's incarnation, and its number.
struct TierTable {
  Ulid incarnation;
  uint64_t number = 0;
  friend auto operator<=>(const TierTable&, const TierTable&) = default;
};

/// Names a block: its table, and where in the table's object it lies.
struct TierKey {
  /// Stands for the table's tail: top index and footer.
  static constexpr uint64_t kTail = UINT64_MAX;

  TierTable table;
  uint64_t offset = 0;
  friend auto operator<=>(const TierKey&, const TierKey&) = default;
};

class SecondTier {
 public:
  virtual ~SecondTier() = default;

  /// The bytes that were put under this key, probably; `length` of them, or of any length when that
  /// is 0. Null when it doesn't have them or can't give them soon. May suspend, for a moment;
  /// throws Cancelled.
  virtual Blob get(const TierKey& key, uint64_t length) = 0;
  /// Offers a block, which lies in `owner`. Never suspends; it may well not be taken.
  virtual void put(const TierKey& key, const Blob& owner, std::string_view block) = 0;
  /// What `get` gave was not the block: it is not given again.
  virtual void refuse(const TierKey& key) = 0;
  /// Nobody will ask for blocks of this table again.
  virtual void drop(const TierTable& table) = 0;
  /// What it needs of memory to know what it has; counts as part of the block cache.
  virtual uint64_t memory_bytes() const = 0;
};

}  // namespace morula
