// One stream, read straight from the bucket: what an owner would answer that had just taken its
// shard over and replayed its logs. Nothing is fenced, sealed or written.
//
// While the owner serves, that is everything that it has acknowledged before the read began, and
// perhaps appends that have landed and were not acknowledged yet.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/rt/env.hpp"
#include "core/store/conditional.hpp"
#include "core/stream/streams.hpp"

namespace morula {

struct StoredStreamRequest {
  std::string_view tenant;
  std::string_view path;         // decoded
  std::optional<Offset> offset;  // nullopt: from the start
};

/// How a read ended that was no error.
struct StoredStreamEnd {
  enum class How : uint8_t {
    kRead,          // up to the tail
    kNeverCreated,  // as far as the bucket knows
    kDeleted,
    kExpired,
    kInvalidOffset,  // beyond the tail, or not between two messages
    kCollision,      // another path has this one's id
  } how = How::kRead;
  StreamInfo info;  // with kRead
  Offset end;       // with kRead
  std::string why;  // for a person, with all others
};

/// Hands the stream's bytes to `write` piece by piece; of a JSON stream, one array in all. Errors:
/// kNotFound: there is no cell; kCorrupt: damage, naming the object (what was written before it is
/// right); the store's. `env.store` is an InspectionStore. Suspends.
Result<StoredStreamEnd> read_stored_stream(const Env& env, const RetryConfig& retry,
                                           const StoredStreamRequest& request,
                                           const std::function<void(std::string_view)>& write);

}  // namespace morula
