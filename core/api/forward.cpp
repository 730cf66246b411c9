#include "core/api/forward.hpp"

#include <algorithm>
#include <array>

#include "core/api/responses.hpp"
#include "core/base/mutant.hpp"
#include "core/rt/clock.hpp"
#include "core/rt/trace.hpp"

namespace morula {

namespace {

/// Headers that are between two neighbours only.
constexpr std::array<std::string_view, 10> kHopByHop = {"Connection",
                                                        "Keep-Alive",
                                                        "Proxy-Connection",
                                                        "Proxy-Authenticate",
                                                        "Proxy-Authorization",
                                                        "TE",
                                                        "Trailer",
                                                        "Transfer-Encoding",
                                                        "Upgrade",
                                                        "Content-Length"};

void erase_hop_by_hop(Headers& headers) {
  for (const std::string_view name : kHopByHop) headers.erase(name);
}

}  // namespace

HttpResponse Forwarder::run() {
  deadline_ = env_.clock.now() + config_.forward_timeout;
  const uint64_t attempts_max = may_forward_ ? config_.forward_attempts_max : 1;
  Duration pause = config_.forward_pause;
  for (uint64_t made = 1;; ++made) {
    auto response = attempt();
    env_.trace.sometimes("a request was served after another attempt",
                         response.has_value() && made > 1);
    if (response) return std::move(*response);
    if (made >= attempts_max || hops_ >= kHopsMax || env_.clock.now() >= deadline_) break;
    env_.trace.log(Severity::kDebug, "request_tried_again", {{"stream", target_.hash.id.text()}});
    placement_.refresh(deadline_);
    if (redirected_) continue;
    env_.clock.sleep_until(std::min(env_.clock.now() + pause, deadline_));
    pause *= 2;
  }
  return moving_response();
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
    if (elsewhere != nullptr) return redirect(elsewhere->address);
    return std::nullopt;
  }
  const auto sent_to = std::exchange(redirected_, std::nullopt);
  if (sent_to && *sent_to != env_.network.address()) return call(*sent_to);
  if (elsewhere != nullptr) return call(elsewhere->address);
  return std::nullopt;
}

std::optional<HttpResponse> Forwarder::call(const std::string& address) {
  ++hops_;
  const Time until = std::min(deadline_, env_.clock.now() + config_.forward_attempt_timeout);
  auto answer = env_.network.call(address, passed_on(), until);
  if (!answer) {
    // kNotFound is the only error after which the request was certainly not carried out.
    const bool unknown = answer.error().code != ErrorCode::kNotFound && !is_read() &&
                         !mutated(Mutant::forward_repeats_unknown);
    env_.trace.sometimes("a forwarded change ended with its outcome unknown", unknown);
    if (!unknown) return std::nullopt;
    return outcome_unknown_response(answer.error().message);
  }
  if (says_moving(*answer)) return std::nullopt;
  const auto replay_to = answer->headers.find(kReplayToHeader);
  const bool stale = answer->status == 307 && replay_to.has_value();
  env_.trace.sometimes("a forward met a stale owner and was redirected", stale);
  if (stale) {
    redirected_ = std::string(*replay_to);
    return std::nullopt;
  }
  erase_hop_by_hop(answer->headers);
  answer->headers.set(kForwardedToHeader, address);
  if (answer->headers.contains("Location")) {
    answer->headers.set("Location", stream_url(request_, target_.path));
  }
  return std::move(*answer);
}

HttpResponse Forwarder::redirect(const std::string& address) const {
  HttpResponse response =
      error_response(307, "moved", "another instance serves the stream: " + address);
  response.headers.set(kReplayToHeader, address);
  response.headers.set("Location", address + std::string(target_.target.raw()));
  return response;
}

HttpRequest Forwarder::passed_on() const {
  HttpRequest request = request_;
  erase_hop_by_hop(request.headers);
  request.headers.erase("Host");
  request.headers.erase(kPinHeader);
  request.headers.set(kHopsHeader, std::to_string(hops_));
  return request;
}

bool Forwarder::is_read() const {
  return request_.method == "GET" || request_.method == "HEAD";
}

}  // namespace morula
