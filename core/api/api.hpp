// The HTTP surface of an instance: every request of clients and of other instances.
//
//   /v1/stream/<path>   the Durable Streams protocol (core/api/stream_routes.hpp has the table of
//                       statuses); served here, or forwarded to the instance that serves it
//   /v1/streams         a tenant's streams (core/api/list_routes.hpp)
//   /v1/cell            shards and instances, and what an operator does to them
//                       (core/api/cell_routes.hpp)
//   /healthz            200 while the process answers
//   /readyz             200 while every shard has an owner that serves, else 503
//
// Any instance takes any request. One that doesn't serve the stream passes the request on to the
// one that does, adds `Streams-Forwarded-To: <its address>` to the answer, and follows it to a new
// owner; with `Streams-Pin: redirect` it answers 307 instead, with `Streams-Replay-To: <address>`.
// The body of a read's answer passes through in pieces (core/api/forwarded_body.hpp).
// A request that was passed on (`Streams-Hops`: how often) is never passed on again but answered
// 307, so that a stale view makes no loop.
#pragma once

#include <cstdint>

#include "core/api/placement.hpp"
#include "core/api/target.hpp"
#include "core/base/ids.hpp"
#include "core/rt/env.hpp"
#include "core/rt/network.hpp"
#include "core/stream/limits.hpp"

namespace morula {

struct ApiConfig {
  StreamLimits stream;
  Duration forward_timeout = std::chrono::seconds(30);  // of a request, all attempts together
  Duration forward_attempt_timeout = std::chrono::seconds(10);  // an owner may be stopped for good
  uint64_t forward_attempts_max = 5;  // rides over a stale owner and the moment of a takeover
  BodyBounds forward_body;  // of what a read's answer may take here while it passes through
  Duration forward_pause = std::chrono::milliseconds(50);  // before a second attempt, then doubled
};

class CellControl;
class MemoryBudget;

class Api {
 public:
  /// `env`'s parts, `placement` and `cell` outlive it and every call of `handle`. Without `cell`
  /// there is no /v1/cell; without `memory`, bodies that pass through are not accounted for.
  Api(const Env& env, const StreamHasher& hasher, Placement& placement, const ApiConfig& config,
      CellControl* cell = nullptr, MemoryBudget* memory = nullptr);

  /// Answers every request, whatever is in it. Suspends; throws Cancelled, after which a write may
  /// have been carried out.
  HttpResponse handle(const HttpRequest& request);

 private:
  HttpResponse handle_stream(const RequestTarget& target, const HttpRequest& request);
  HttpResponse handle_list(const RequestTarget& target, const HttpRequest& request);
  HttpResponse handle_cell(const RequestTarget& target, const HttpRequest& request);
  HttpResponse health(const HttpRequest& request, std::string_view path) const;

  const Env env_;
  const StreamHasher hasher_;
  Placement& placement_;
  const ApiConfig config_;
  CellControl* const cell_;
  MemoryBudget* const memory_;
};

}  // namespace morula
