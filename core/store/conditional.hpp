// Conditional puts whose outcome is known (OWNERSHIP R0).
//
// A put can end with its outcome unknown and land later. These functions repeat the identical
// request until it is answered, and settle a failed condition by reading the object back: so they
// return "landed" or "lost", never "perhaps". They go on until then, with backoff; a caller that
// can't wait is cancelled, and must then treat the outcome as unresolved.
//
// Every body carries its writer and a nonce, so that no content ever repeats and comparing bytes
// tells whose object lies there.
#pragma once

#include <optional>
#include <string_view>

#include "core/rt/env.hpp"
#include "core/rt/store.hpp"

namespace morula {

/// How a repeated request paces itself.
struct RetryConfig {
  Duration attempt_timeout = std::chrono::seconds(5);
  Duration backoff_min = std::chrono::milliseconds(20);  // doubles from here, with jitter
  Duration backoff_max = std::chrono::seconds(1);
};

struct ConditionalOutcome {
  bool landed = false;
  Etag etag;         // of what lies there now, own or foreign; empty when nothing does
  Blob body;         // what lies there now; null when nothing does
  Time last_sent{};  // when the last of the identical requests was sent
};

/// Creates `key` with `body` unless it exists. Not landed: `body` of the outcome is the foreign
/// content (or null: it was foreign and has been deleted). Errors: kDenied, kInvalid, kFull,
/// certain. Suspends; throws Cancelled.
Result<ConditionalOutcome> create_object(const Env& env, std::string_view key, Blob body,
                                         Purpose purpose, const RetryConfig& retry);

/// Replaces `key` by `body` if it still has `base`. Not landed: somebody else's content lies there
/// or the object is gone. An own swap that landed and was then replaced by another counts as lost:
/// the caller looks at what lies there. Errors as above. Suspends; throws Cancelled.
Result<ConditionalOutcome> swap_object(const Env& env, std::string_view key, Blob body,
                                       const Etag& base, Purpose purpose, const RetryConfig& retry);

/// Reads `key` with repeats until the store answers; nullopt when it is absent. Errors: kDenied,
/// kInvalid, kCorrupt.
Result<std::optional<StoredObject>> get_object(const Env& env, std::string_view key,
                                               Purpose purpose, const RetryConfig& retry);

/// All of a prefix, in pages, each repeated until answered.
Result<std::vector<ObjectInfo>> list_objects(const Env& env, std::string_view prefix,
                                             std::string_view start_after, Purpose purpose,
                                             const RetryConfig& retry);

}  // namespace morula
