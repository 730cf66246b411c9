// Who is who: names of incarnations and streams.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/base/units.hpp"

namespace morula {

/// 128-bit sortable identifier: 48 bits of wall time in ms, 80 random bits. Text: 26 characters of
/// Crockford's base 32 (https://github.com/ulid/spec).
struct Ulid {
  uint64_t high = 0;
  uint64_t low = 0;

  /// `random` is a `Random` (core/rt/random.hpp).
  template <class Random>
  static Ulid draw(WallTime wall, Random& random) {
    const uint64_t high_bits = static_cast<uint64_t>(wall.ms) << 16 | random.next() >> 48;
    return Ulid{high_bits, random.next()};
  }
  static Result<Ulid> parse(std::string_view text);
  std::string text() const;
  friend auto operator<=>(const Ulid&, const Ulid&) = default;
};

/// One run of an instance. Text, also its folder in the bucket: `<name>-<ulid>`.
struct IncarnationId {
  std::string name;  // 1 to 63 of [a-z0-9-], see `is_valid_instance_name`
  Ulid ulid;

  static Result<IncarnationId> parse(std::string_view text);
  std::string text() const;
  friend auto operator<=>(const IncarnationId&, const IncarnationId&) = default;
};

bool is_valid_instance_name(std::string_view name);

/// Place of a stream in the hash space; a hash of (tenant, path) keyed with the cell's secret.
struct StreamId {
  uint64_t high = 0;
  uint64_t low = 0;

  static Result<StreamId> parse(std::string_view text);
  /// 32 hex digits.
  std::string text() const;
  friend auto operator<=>(const StreamId&, const StreamId&) = default;
};

/// The same on the stack.
class StreamIdText {
 public:
  explicit StreamIdText(StreamId id);
  // NOLINTNEXTLINE(*-explicit-*)
  operator std::string_view() const { return {text_.data(), text_.size()}; }

 private:
  std::array<char, 32> text_;
};

/// The cell's secret for hashing: 32 random bytes of `cell.json`.
using HashSecret = std::array<uint8_t, 32>;

/// What a (tenant, path) hashes to. `check` is kept with the stream and compared on every open: a
/// StreamId that two paths share is an error, never somebody else's data.
struct StreamHash {
  StreamId id;
  uint64_t check = 0;
};

/// Keyed XXH3, 128 bits for `id` and independently keyed 64 bits for `check`. Holds the expanded
/// secret, so make one per cell and keep it. For one thread.
class StreamHasher {
 public:
  explicit StreamHasher(const HashSecret& secret);
  StreamHash operator()(std::string_view tenant, std::string_view path) const;

 private:
  std::array<uint8_t, 192> id_secret_{};
  std::array<uint8_t, 192> check_secret_{};
  mutable std::string both_;  // what is hashed; keeps its memory
};

}  // namespace morula
