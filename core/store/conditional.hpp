// Conditional puts whose outcome is known (OWNERSHIP R0).
//
// A put can end with its outcome unknown and land later. These functions repeat the identical
// request until it is answered, and settle a failed condition, or an error that leaves all open, by
// reading the object back: so they return "landed" or "lost", never "perhaps". They go on until
// then, with backoff; a caller that can't wait is cancelled, and must then treat the outcome as
// unresolved.
//
// Every body carries its writer and a nonce, so that no content ever repeats and comparing bytes
// tells whose object lies there. Content counts as foreign only when two reads in a row show the
// same bytes: one read may have flipped a bit of our own.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "core/rt/env.hpp"
#include "core/rt/store.hpp"
#include "core/store/backoff.hpp"

namespace morula {

struct ConditionalOutcome {
  bool landed = false;
  Etag etag;         // of what lies there now, own or foreign; empty when nothing does
  Blob body;         // what lies there now; null when nothing does
  Time last_sent{};  // when the last of the identical requests was sent
};

/// Creates `key` with `body` unless it exists. Not landed: `body` of the outcome is the foreign
/// content. Null: what made the condition fail has been deleted since; it was foreign, unless
/// somebody may delete own objects at `key` before this call has returned (of a log, who collects
/// what a fenced incarnation has left).
/// Errors, only while no attempt of this call is unresolved, so certain: kDenied, kInvalid, kFull.
/// With an unresolved attempt these are repeated too. `repeated` hears why each attempt is
/// repeated. Suspends; throws Cancelled.
Result<ConditionalOutcome> create_object(const Env& env, std::string_view key, Blob body,
                                         Purpose purpose, const RetryConfig& retry,
                                         const std::function<void(const Error&)>& repeated = {});

/// Replaces `key` by `body` if it still has `base`. Not landed: somebody else's content lies there
/// or the object is gone. An own swap that landed and was then replaced by another counts as lost:
/// the caller looks at what lies there. Errors as above. Suspends; throws Cancelled.
Result<ConditionalOutcome> swap_object(const Env& env, std::string_view key, Blob body,
                                       const Etag& base, Purpose purpose, const RetryConfig& retry);

/// Reads `key` with repeats until the store answers; nullopt when it is absent. Errors: kDenied,
/// kInvalid; kCorrupt when the store has found damage in several reads in a row.
Result<std::optional<StoredObject>> get_object(const Env& env, std::string_view key,
                                               Purpose purpose, const RetryConfig& retry);

/// All of a prefix beyond `start_after`, in pages, each repeated until answered. Objects that come
/// or go meanwhile may be in it or not. Errors: kDenied, kInvalid; kCorrupt when a page is not in
/// order or does not get ahead, several times in a row. Suspends; throws Cancelled.
Result<std::vector<ObjectInfo>> list_objects(const Env& env, std::string_view prefix,
                                             std::string_view start_after, Purpose purpose,
                                             const RetryConfig& retry);

/// The same without holding more than a page: hands each object to `each`, in order; the first
/// error of `each` ends it.
Result<> for_each_object(const Env& env, std::string_view prefix, std::string_view start_after,
                         Purpose purpose, const RetryConfig& retry,
                         const std::function<Result<>(const ObjectInfo&)>& each);

}  // namespace morula
