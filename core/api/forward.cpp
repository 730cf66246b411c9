#include "core/api/forward.hpp"

#include <algorithm>

#include "core/api/responses.hpp"
#include "core/base/mutant.hpp"
#include "core/rt/clock.hpp"
#include "core/rt/trace.hpp"

namespace morula {

HttpResponse Forwarder::run() {
  deadline_ = env_.clock.now() + config_.forward_timeout;
  const uint64_t attempts_max = may_forward_ ? config_.forward_attempts_max : 1;
  Duration pause = config_.forward_pause;
  for (uint64_t made = 1;; ++made) {
    await_owner();
    auto response = attempt();
    env_.trace.sometimes("a request was served after another attempt",
                         response.has_value() && made > 1);
    if (response) return std::move(*response);
    if (made >= attempts_max || calls_ >= kHopsMax || env_.clock.now() >= deadline_) break;
    env_.trace.log(Severity::kDebug, "request_tried_again", {{"stream", target_.hash.id.text()}});
    placement_.refresh(deadline_);
    if (redirected_) continue;
    env_.clock.sleep_until(std::min(env_.clock.now() + pause, deadline_));
    pause *= 2;
  }
  return moving_response();
}

/// A shard that is being handed over has an owner soon: sooner than somebody who asks again and
/// again would find out, and before the patience of an instance that has passed the request on
/// ends.
void Forwarder::await_owner() {
  const Time until = std::min(deadline_, env_.clock.now() + config_.forward_attempt_timeout / 2);
  while (env_.clock.now() < until) {
    const Place place = placement_.locate(target_.hash.id);
    const bool soon = std::holds_alternative<ServedSoon>(place);
    env_.trace.sometimes("a request waited for the end of a handoff", soon);
    if (!soon) return;
    placement_.await_change(until);
  }
}

std::optional<HttpResponse> Forwarder::attempt() {
  const Place place = placement_.locate(target_.hash.id);
  if (const auto* here = std::get_if<ServedHere>(&place)) {
    StreamResponse served = serve_stream(env_, config_.stream, *here->streams, target_, request_);
    if (served.moving) return std::nullopt;
    return std::move(served.http);
  }
  const auto* elsewhere = std::get_if<ServedElsewhere>(&place);
  if (!may_forward_) {
    if (elsewhere == nullptr) return std::nullopt;
    return redirect_response(elsewhere->address, target_.target.raw(), "the stream");
  }
  const auto sent_to = std::exchange(redirected_, std::nullopt);
  if (sent_to && *sent_to != env_.network.address()) return call(*sent_to);
  if (elsewhere != nullptr) return call(elsewhere->address);
  return std::nullopt;
}

std::optional<HttpResponse> Forwarder::call(const std::string& address) {
  auto body = body_of_relay();
  if (!body) return unserved_response(body.error(), to_string(MemoryRefusal::kReadMemoryBusy));
  ++calls_;
  const Time until = std::min(deadline_, env_.clock.now() + config_.forward_attempt_timeout);
  Relayed relayed = relay(env_, address, request_, hops_ + 1, until, std::move(*body));
  if (auto* unknown = std::get_if<RelayUnknown>(&relayed)) {
    const bool untold = !is_read() && !mutated(Mutant::forward_repeats_unknown);
    env_.trace.sometimes("a forwarded change ended with its outcome unknown", untold);
    if (untold) return outcome_unknown_response(unknown->why);
    return std::nullopt;
  }
  if (std::holds_alternative<RelayUndone>(relayed)) return std::nullopt;
  auto* elsewhere = std::get_if<RelaySentOn>(&relayed);
  env_.trace.sometimes("a forward met a stale owner and was redirected", elsewhere != nullptr);
  if (elsewhere != nullptr) {
    redirected_ = std::move(elsewhere->address);
    return std::nullopt;
  }
  auto& answer = std::get<HttpResponse>(relayed);
  env_.trace.sometimes("a forwarded body passed through in pieces", answer.source != nullptr);
  if (answer.headers.contains("Location")) {
    answer.headers.set("Location", stream_url(request_, target_.path));
  }
  return std::move(answer);
}

// Only a read's answer can be long.
Result<RelayBody> Forwarder::body_of_relay() {
  RelayBody body;
  if (request_.method != "GET") return body;
  body.in_pieces = config_.forward_body;
  if (memory_ == nullptr) return body;
  auto reserved = memory_->reserve_read(config_.forward_body.window_bytes);
  MORULA_TRY(reserved);
  body.memory = std::move(*reserved);
  return body;
}

bool Forwarder::is_read() const {
  return request_.method == "GET" || request_.method == "HEAD";
}

}  // namespace morula
