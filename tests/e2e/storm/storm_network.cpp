#include "tests/e2e/storm/storm_network.hpp"

#include <algorithm>

#include "core/stream/offset.hpp"

namespace morula::storm {

namespace {

constexpr uint64_t kLiesOneIn = 20;
constexpr uint64_t kHangsUpOneIn = 15;
constexpr uint64_t kHangsUpAfterUs = 200;  // at most, doubled so often as drawn: while the request
constexpr uint64_t kDoublings = 8;         // is being carried out, however fast the store is

/// Of one message of a stream of bytes, without a condition that can make it fail.
bool is_plain_append(const HttpRequest& request) {
  return request.method == "POST" && request.target.starts_with("/v1/stream/") &&
         request.headers.find("Content-Type") == "application/octet-stream" &&
         !request.headers.contains("Producer-Id") && !request.headers.contains("Stream-Seq") &&
         !request.headers.contains("Stream-Expected-Offset");
}

bool is_done(const Result<HttpResponse>& answer) {
  return answer && answer->status >= 200 && answer->status < 300;
}

}  // namespace

std::optional<Lie> parse_lie(std::string_view text) {
  if (text.empty()) return Lie::kNone;
  if (text == "loses") return Lie::kLoses;
  if (text == "doubles") return Lie::kDoubles;
  return std::nullopt;
}

Time StormNetwork::draw_deadline(Time wanted) {
  if (patient_ || !random_.chance(1, kHangsUpOneIn)) return wanted;
  ++hung_up_;
  const uint64_t most = kHangsUpAfterUs << random_.below(kDoublings);
  return std::min(wanted, loop_.now() + std::chrono::microseconds(random_.below(most)));
}

Result<HttpResponse> StormNetwork::call(const std::string& address, const HttpRequest& request,
                                        Time deadline) {
  const bool lies = lie_ != Lie::kNone && is_plain_append(request) && random_.chance(1, kLiesOneIn);
  if (!lies) return client_.call(address, request, draw_deadline(deadline));
  if (lie_ == Lie::kLoses) {
    if (auto pretended = pretend(address, request, deadline)) return *std::move(pretended);
    return client_.call(address, request, deadline);
  }
  const auto first = client_.call(address, request, deadline);
  auto second = client_.call(address, request, deadline);
  if (is_done(first) && is_done(second)) ++lies_;
  return second;
}

std::optional<HttpResponse> StormNetwork::pretend(const std::string& address,
                                                  const HttpRequest& append, Time deadline) {
  HttpRequest head;
  head.method = "HEAD";
  head.target = append.target;
  if (const auto tenant = append.headers.find("Morula-Tenant")) {
    head.headers.add("Morula-Tenant", *tenant);
  }
  auto answer = client_.call(address, head, deadline);
  if (!is_done(answer)) return std::nullopt;
  if (answer->headers.find("Content-Type") != append.headers.find("Content-Type")) {
    return std::nullopt;
  }
  auto tail = parse_offset(answer->headers.find("Stream-Next-Offset").value_or(""));
  if (!tail) return std::nullopt;
  tail->messages += 1;
  tail->bytes += append.body.size();
  answer->status = 204;
  answer->headers.set("Stream-Next-Offset", offset_text(*tail));
  ++lies_;
  return *std::move(answer);
}

}  // namespace morula::storm
