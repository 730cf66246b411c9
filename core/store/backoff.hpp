// How a request that must be repeated paces itself.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/base/result.hpp"
#include "core/base/units.hpp"
#include "core/rt/env.hpp"
#include "core/rt/store.hpp"

namespace morula {

struct RetryConfig {
  Duration attempt_timeout = std::chrono::seconds(5);
  Duration backoff_min = std::chrono::milliseconds(20);  // doubles from here, with jitter
  Duration backoff_max = std::chrono::seconds(1);
  Duration retry_after_max = std::chrono::minutes(1);  // a store that asks for more gets this pause
};

/// The repeats of one request: a deadline for each attempt, and growing pauses between them.
class Backoff {
 public:
  /// `what` names the request in the warnings, and must outlive this; so must `env`.
  Backoff(const Env& env, const RetryConfig& retry, std::string_view what)
      : env_(env), retry_(retry), what_(what), pause_(retry.backoff_min) {}

  /// Of an attempt that begins now.
  RequestOptions attempt(Purpose purpose) const;

  /// Suspends before the next attempt: between half of the pause and all of it, drawn, and twice as
  /// long each time; at least as long as `error` asks for, up to `retry_after_max`. Warns ever more
  /// rarely. Throws Cancelled.
  void pause(const Error& error);

 private:
  const Env& env_;
  RetryConfig retry_;
  std::string_view what_;
  Duration pause_;
  uint64_t pauses_ = 0;
};

}  // namespace morula
