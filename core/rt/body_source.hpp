// A body that comes in pieces: what is too long to be held whole, or isn't there yet (a live tail).
//
// Whoever takes the body pulls, so nothing piles up in between: a source fetches no more than its
// window until it is asked again. A body ends in one of two ways that are never mistaken for each
// other: whole, or cut. Where a piece fails, all who pass the body on must cut it too.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/base/result.hpp"

namespace morula {

/// One taker, one fiber at a time. The destructor lets go of what feeds it, also before the end,
/// and never suspends; no fiber may be in `next` then.
class BodySource {
 public:
  virtual ~BodySource() = default;

  /// Of the whole body, in bytes, if that is known.
  virtual std::optional<uint64_t> length() const = 0;
  /// Suspends until the next piece is there. Empty: the body is whole. An error: it is cut, what
  /// has come so far is not all. Not called again after either. Throws Cancelled.
  virtual Result<std::string> next() = 0;
};

/// `body` in pieces of at most `piece_bytes`, which must not be 0. Doesn't suspend.
std::shared_ptr<BodySource> body_in_pieces(std::string body, uint64_t piece_bytes);

/// All of it. kInvalid: it is longer than `bytes_max`. Suspends; throws Cancelled.
Result<std::string> read_whole(BodySource& source, uint64_t bytes_max);

}  // namespace morula
