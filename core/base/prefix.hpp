// Bit prefixes of the hash space: what a shard is, and what a clip cuts to.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/ids.hpp"
#include "core/base/result.hpp"

namespace morula {

/// The streams whose id starts with these bits. The empty prefix is the whole space; its text is
/// "root", that of others their bits: "0", "01".
struct Prefix {
  static constexpr uint8_t kMaxLength = 12;

  uint16_t bits = 0;   // the low `length` bits, the first one highest
  uint8_t length = 0;  // 0 to kMaxLength

  static Result<Prefix> parse(std::string_view text);
  std::string text() const;
  bool contains(StreamId id) const;
  /// The lowest and the highest stream id within.
  StreamId first() const;
  StreamId last() const;
  /// True for all of `other`, itself included.
  bool contains(Prefix other) const;
  bool overlaps(Prefix other) const { return contains(other) || other.contains(*this); }
  /// The half whose next bit is `bit`. Shorter than `kMaxLength`.
  Prefix child(bool bit) const;
  /// What this is a half of, and the other half. Not of the root.
  Prefix parent() const;
  Prefix sibling() const;
  friend auto operator<=>(const Prefix&, const Prefix&) = default;
};

}  // namespace morula
