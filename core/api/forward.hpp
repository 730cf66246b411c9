// Carrying out one request for a stream, wherever the stream is served.
//
// An attempt is made where the placement says. One that certainly did nothing (nobody listens,
// `moving`, a redirect) is made again after a fresh look, a bounded number of times; a read also
// after an unknown outcome. A change whose outcome is unknown is never repeated here: only the
// client knows whether that is safe. What was passed on is never passed on again: whoever it comes
// to serves it, or says who does.
#pragma once

#include <optional>
#include <string>

#include "core/api/api.hpp"
#include "core/api/relay.hpp"
#include "core/api/stream_routes.hpp"
#include "core/base/memory_budget.hpp"
#include "core/base/mutant.hpp"

namespace morula {

class Forwarder {
 public:
  /// Everything outlives the call of `run`. `memory` may be null. `hops`: of the request as it
  /// arrived.
  Forwarder(const Env& env, const ApiConfig& config, Placement& placement, MemoryBudget* memory,
            const StreamTarget& target, const HttpRequest& request, uint64_t hops, bool pinned)
      : env_(env),
        config_(config),
        placement_(placement),
        memory_(memory),
        target_(target),
        request_(request),
        hops_(hops),
        may_forward_((hops == 0 || mutated(Mutant::redirect_loop)) && !pinned) {}

  /// Suspends; throws Cancelled.
  HttpResponse run();

 private:
  /// The answer; nullopt: nothing was done, it may be tried again.
  std::optional<HttpResponse> attempt();
  void await_owner();
  std::optional<HttpResponse> call(const std::string& address);
  /// What the relay of this request needs. kBusy, kShed: there is no memory for its answer.
  Result<RelayBody> body_of_relay();
  bool is_read() const;

  const Env& env_;
  const ApiConfig& config_;
  Placement& placement_;
  MemoryBudget* const memory_;
  const StreamTarget& target_;
  const HttpRequest& request_;
  const uint64_t hops_;
  uint64_t calls_ = 0;
  const bool may_forward_;
  Time deadline_;
  std::optional<std::string> redirected_;  // where the last attempt was sent to
};

}  // namespace morula
