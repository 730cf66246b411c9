// Fencing another incarnation's log (OWNERSHIP R3a), and reading its closed ranges (R3e).
//
// A taker sees from a LIST which objects hold data and which are fences, because a fence has a size
// of its own (core/log/FORMAT.md): most often LIST, PUT, LIST is all. Listing in pages is as good
// as at one moment: the highest objects of a log are never trimmed, so the last page shows them.
#pragma once

#include <functional>

#include "core/base/ids.hpp"
#include "core/log/log_object.hpp"
#include "core/rt/env.hpp"
#include "core/store/conditional.hpp"

namespace morula {

/// Step Fence. Returns f: nothing at or above f was or will be acknowledged by `victim`, and every
/// batch below f that was acknowledged is in the bucket. The caller knows that the victim's member
/// document says `expired` or `stopped`. `acknowledged_hint` is the last acknowledged position in
/// the victim's heartbeat. Repeats until the fence counts, with backoff. kCorrupt for damage, and
/// the store's certain errors. Suspends; throws Cancelled.
Result<LogSeq> fence_log(const Env& env, const IncarnationId& self, const IncarnationId& victim,
                         LogSeq acknowledged_hint, uint64_t window, const RetryConfig& retry);

/// Step Replay. Reads log objects [from, to) of `incarnation`, each once, a few at a time ahead,
/// and hands them to `apply` in order. kCorrupt when one is absent, damaged, or a fence. `apply`
/// may suspend.
Result<> replay_log(const Env& env, const IncarnationId& self, const IncarnationId& incarnation,
                    LogSeq from, LogSeq to, const RetryConfig& retry,
                    const std::function<Result<>(const LogObject&)>& apply);

}  // namespace morula
