// The HTTP surface of an instance: every request of clients and of other instances.
//
//   /v1/stream/<path>   the Durable Streams protocol (core/api/stream_routes.hpp has the table of
//                       statuses); served here, or forwarded to the instance that serves it
//   /healthz            200 while the process answers
//   /readyz             200 while every shard has an owner that serves, else 503
//
// Any instance takes any request. A forward carries `Streams-Hops`, how many instances have passed
// the request on; one that arrives at an instance which doesn't serve the stream is not passed on
// again but answered 307 with `Streams-Replay-To`, which the forwarding instance follows.
#pragma once

#include <cstdint>

#include "core/api/placement.hpp"
#include "core/base/ids.hpp"
#include "core/rt/env.hpp"
#include "core/rt/network.hpp"
#include "core/stream/limits.hpp"

namespace morula {

struct ApiConfig {
  StreamLimits stream;
  Duration forward_timeout = std::chrono::seconds(30);  // of a request, all attempts together
  uint64_t forward_attempts_max = 5;  // rides over a stale owner and the moment of a takeover
  Duration forward_pause =
      std::chrono::milliseconds(50);  // before the second attempt, then doubled
};

/// How many instances may pass one request on; more means that they disagree about the owner.
inline constexpr uint64_t kForwardHopsMax = 3;

class Api {
 public:
  /// `env`'s parts and `placement` outlive it and every call of `handle`.
  Api(const Env& env, const StreamHasher& hasher, Placement& placement, const ApiConfig& config);

  /// Answers every request, whatever is in it. Suspends; throws Cancelled, after which a write may
  /// have been carried out.
  HttpResponse handle(const HttpRequest& request);

 private:
  Env env_;
  StreamHasher hasher_;
  Placement& placement_;
  ApiConfig config_;
};

}  // namespace morula
