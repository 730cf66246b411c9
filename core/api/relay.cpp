#include "core/api/relay.hpp"

#include <array>
#include <utility>

#include "core/api/forwarded_body.hpp"
#include "core/api/responses.hpp"
#include "core/base/memory_budget.hpp"
#include "core/base/mutant.hpp"

namespace morula {

namespace {

// Of an answer that is no success: an error in JSON.
constexpr uint64_t kRefusalBytesMax = 64 * kKiB;
// A body in pieces needs a connection to the other for as long as its reader takes.
constexpr std::string_view kConnectionsBusyCode = "connections_busy";

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

bool is_success(const HttpResponse& response) {
  return response.status >= 200 && response.status < 300;
}

}  // namespace

Relayed relay(const Env& env, const std::string& address, const HttpRequest& request, uint64_t hops,
              Time until, RelayBody body) {
  const HttpRequest passed = passed_on(request, hops);
  auto answer = body.in_pieces ? env.network.call_in_pieces(address, passed, until, *body.in_pieces)
                               : env.network.call(address, passed, until);
  if (!answer) {
    Error& error = answer.error();
    // The only error after which the request was certainly not carried out.
    if (error.code == ErrorCode::kNotFound) return RelayUndone{std::move(error.message)};
    if (error.code == ErrorCode::kBusy) return unserved_response(error, kConnectionsBusyCode);
    return RelayUnknown{std::move(error.message)};
  }
  if (answer->source && !is_success(*answer)) {
    auto whole = read_whole(*std::exchange(answer->source, nullptr), kRefusalBytesMax);
    if (!whole) return RelayUnknown{std::move(whole.error().message)};
    answer->body = std::move(*whole);
  }
  if (says_moving(*answer)) return RelayUndone{address + " says that it is changing hands"};
  const auto replay_to = answer->headers.find(kReplayToHeader);
  if (answer->status == 307 && replay_to) return RelaySentOn{std::string(*replay_to)};
  // To HEAD, how long the body would be is all that is left of it.
  const auto length = answer->headers.find("Content-Length");
  const std::string length_of_none(request.method == "HEAD" ? length.value_or("") : "");
  erase_hop_by_hop(answer->headers);
  if (!length_of_none.empty()) answer->headers.set("Content-Length", length_of_none);
  answer->headers.set(kForwardedToHeader, address);
  if (answer->source) {
    answer->source =
        std::make_shared<ForwardedBody>(std::move(answer->source), std::move(body.memory));
  } else if (body.memory.bytes() > 0) {
    MemoryBudget::settle_read(body.memory, answer->body.size());
    answer->body_memory = std::make_shared<MemoryReservation>(std::move(body.memory));
  }
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
