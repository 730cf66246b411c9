// How long a stream lives, as its creator said it: `Stream-TTL` or `Stream-Expires-At`.
//
// A TTL slides: it counts from the last read or append. Persisting every renewal would make each
// read a write, so a deadline is made durable an eighth of the TTL ahead, and again only once less
// than a whole TTL of it is left (core/stream/renewal.cpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/base/units.hpp"

namespace morula {

/// RFC 3339 in UTC, to the millisecond: 2026-11-30T06:45:00.000Z. Not before 1970.
std::string rfc3339(WallTime time);

struct Expiry {
  enum class Kind : uint8_t { kNone = 0, kTtl = 1, kAt = 2 } kind = Kind::kNone;
  uint64_t ttl_seconds = 0;  // with kTtl
  WallTime at;               // with kAt
  std::string text;          // with kAt: as it was given

  static Expiry none() { return {}; }
  /// `Stream-TTL`: decimal digits without sign or leading zeros, at most 2^53-1. kInvalid.
  static Result<Expiry> parse_ttl(std::string_view text);
  /// `Stream-Expires-At`: an RFC 3339 time of at most 64 bytes. Fractions of a millisecond are
  /// cut. kInvalid.
  static Result<Expiry> parse_at(std::string_view text);

  /// From when on a stream that was renewed (or created) at `renewed` is gone; nullopt: never.
  /// Times beyond what a WallTime holds are cut.
  std::optional<WallTime> deadline(WallTime renewed) const;
  /// The deadline to be persisted then: with a TTL an eighth of it later.
  std::optional<WallTime> deadline_ahead(WallTime renewed) const;
  /// The same wish: equal seconds, or the same instant however it is written.
  bool same_as(const Expiry& other) const;
};

}  // namespace morula
