#include "core/api/relay.hpp"

#include <array>

#include "core/api/responses.hpp"
#include "core/base/mutant.hpp"

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

HttpRequest passed_on(HttpRequest request, uint64_t hops) {
  erase_hop_by_hop(request.headers);
  request.headers.erase("Host");
  request.headers.erase(kPinHeader);
  if (mutated(Mutant::forward_drops_producer_headers)) {
    for (const char* name : {"Producer-Id", "Producer-Epoch", "Producer-Seq"}) {
      request.headers.erase(name);
    }
  }
  request.headers.set(kHopsHeader, std::to_string(hops));
  return request;
}

}  // namespace

Relayed relay(const Env& env, const std::string& address, const HttpRequest& request, uint64_t hops,
              Time until) {
  auto answer = env.network.call(address, passed_on(request, hops), until);
  if (!answer) {
    Error& error = answer.error();
    // The only error after which the request was certainly not carried out.
    if (error.code == ErrorCode::kNotFound) return RelayUndone{std::move(error.message)};
    return RelayUnknown{std::move(error.message)};
  }
  if (says_moving(*answer)) return RelayUndone{address + " says that it is changing hands"};
  const auto replay_to = answer->headers.find(kReplayToHeader);
  if (answer->status == 307 && replay_to) return RelaySentOn{std::string(*replay_to)};
  erase_hop_by_hop(answer->headers);
  answer->headers.set(kForwardedToHeader, address);
  return std::move(*answer);
}

HttpResponse redirect_response(const std::string& address, std::string_view target,
                               std::string_view what) {
  HttpResponse response =
      error_response(307, "moved", "another instance serves " + std::string(what) + ": " + address);
  response.headers.set(kReplayToHeader, address);
  response.headers.set("Location", address + std::string(target));
  return response;
}

}  // namespace morula
