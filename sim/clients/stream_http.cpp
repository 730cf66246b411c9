#include "sim/clients/stream_http.hpp"

#include <array>
#include <charconv>

#include "core/api/responses.hpp"
#include "core/base/json.hpp"
#include "core/stream/expiry.hpp"
#include "core/stream/offset.hpp"

namespace morula::sim {

namespace {

using invariants::OpKind;
using invariants::Outcome;

constexpr std::array<std::string_view, 3> kTypes = {
    "application/octet-stream", "text/plain; charset=utf-8", "application/json"};

std::string_view method_of(OpKind kind) {
  switch (kind) {
    case OpKind::kCreate:
      return "PUT";
    case OpKind::kAppend:
      return "POST";
    case OpKind::kRead:
      return "GET";
    case OpKind::kHead:
      return "HEAD";
    case OpKind::kListed:
      return "GET";
    case OpKind::kDelete:
      return "DELETE";
  }
  return "?";
}

std::optional<uint64_t> number(const Headers& headers, std::string_view name) {
  const auto text = headers.find(name);
  if (!text) return std::nullopt;
  uint64_t value = 0;
  auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc() || end != text->data() + text->size()) return std::nullopt;
  return value;
}

std::string error_code(const invariants::Request& request, const HttpResponse& response) {
  // HEAD has no body to say it in.
  if (request.kind == OpKind::kHead) {
    return std::string(response.headers.find(kErrorHeader).value_or(""));
  }
  auto json = Json::parse(response.body);
  const Json* error = json ? json->find("error") : nullptr;
  const Json* code = error != nullptr ? error->find("code") : nullptr;
  const std::string* text = code != nullptr ? code->as_string() : nullptr;
  return text != nullptr ? *text : "";
}

/// 503 and 429 with these codes promise that nothing was done.
bool nothing_was_done(std::string_view code) {
  constexpr std::array<std::string_view, 6> kCodes = {"moving",           "append_memory_busy",
                                                      "read_memory_busy", "store_unavailable",
                                                      "rate_limited",     "not_serving"};
  for (std::string_view certain : kCodes) {
    if (code == certain) return true;
  }
  return false;
}

/// Refusals that a client which keeps to the protocol can meet.
bool is_fair_refusal(OpKind kind, int status, std::string_view code) {
  switch (kind) {
    case OpKind::kCreate:
      return status == 409 && code == "stream_exists";
    case OpKind::kAppend:
      // An old append of the producer's last epoch can be the first of a new generation.
      if (status == 400 && code == "epoch_not_at_zero") return true;
      return status == 409 && (code == "content_type_mismatch" || code == "sequence_gap" ||
                               code == "sequence_regression" || code == "offset_mismatch");
    case OpKind::kRead:
      return status == 400 && code == "invalid_offset";
    case OpKind::kHead:
    case OpKind::kDelete:
    case OpKind::kListed:
      return false;
  }
  return false;
}

void understand_success(const invariants::Request& request, const HttpResponse& http,
                        Answer& answer) {
  invariants::Response& response = answer.response;
  response.outcome = Outcome::kOk;
  response.generation = number(http.headers, "Stream-Generation");
  response.existed = request.kind == OpKind::kCreate && http.status == 200;
  response.duplicate = request.producer && http.status == 204;
  response.highest_seq = number(http.headers, "Producer-Seq");
  response.up_to_date = http.headers.contains("Stream-Up-To-Date");
  if (request.kind == OpKind::kRead) response.body = http.body;
  if (!response.generation) answer.unexpected = "a success without Stream-Generation";
  if (!response.next && request.kind != OpKind::kDelete) {
    answer.unexpected = "a success without Stream-Next-Offset";
  }
}

void understand_failure(const invariants::Request& request, const HttpResponse& http,
                        Answer& answer) {
  invariants::Response& response = answer.response;
  response.code = error_code(request, http);
  if (http.status == 404 && response.code == "stream_not_found") {
    response.outcome = Outcome::kAbsent;
    return;
  }
  bool read = request.kind == OpKind::kRead || request.kind == OpKind::kHead;
  response.outcome = Outcome::kUnknown;
  if (http.status == 503 || http.status == 429) {
    if (read || nothing_was_done(response.code)) response.outcome = Outcome::kRefused;
    if (auto seconds = number(http.headers, "Retry-After")) {
      answer.retry_after = std::chrono::seconds(*seconds);
    } else {
      answer.unexpected = "a 503 or 429 without Retry-After";
    }
    return;
  }
  if (http.status >= 400 && http.status < 500) {
    response.outcome = Outcome::kRefused;
    response.offset_mismatch = response.code == "offset_mismatch";
    response.bad_offset = response.code == "invalid_offset";
  }
  if (!is_fair_refusal(request.kind, http.status, response.code)) {
    answer.unexpected =
        "this request does not deserve " + std::to_string(http.status) + ": " + http.body;
  }
}

}  // namespace

std::string content_type(StreamType type) {
  return std::string(kTypes[static_cast<size_t>(type)]);
}

std::optional<StreamType> parse_stream_type(std::string_view text) {
  for (size_t i = 0; i < kTypes.size(); ++i) {
    if (text == kTypes[i]) return static_cast<StreamType>(i);
  }
  return std::nullopt;
}

HttpRequest http_request(const invariants::Request& request, StreamType type) {
  HttpRequest http;
  http.method = method_of(request.kind);
  size_t colon = request.path.find(':');
  bool has_tenant = colon != std::string::npos;
  http.target = "/v1/stream/" + request.path.substr(has_tenant ? colon + 1 : 0);
  if (has_tenant) http.headers.add("Morula-Tenant", request.path.substr(0, colon));
  if (request.kind == OpKind::kCreate || request.kind == OpKind::kAppend) {
    http.headers.add("Content-Type", content_type(type));
  }
  if (request.messages > 0) {
    http.body = invariants::record_body(request.record, request.messages, request.message_bytes,
                                        request.framing, request.record.number % 2 == 0);
  }
  if (request.producer) {
    http.headers.add("Producer-Id", request.producer->id);
    http.headers.add("Producer-Epoch", std::to_string(request.producer->epoch));
    http.headers.add("Producer-Seq", std::to_string(request.producer->seq));
  }
  if (request.expected) {
    http.headers.add("Stream-Expected-Offset", offset_text(request.expected->offset));
  }
  if (request.sequence) http.headers.add("Stream-Seq", *request.sequence);
  if (request.ttl_seconds) http.headers.add("Stream-TTL", std::to_string(*request.ttl_seconds));
  if (request.expires_at) http.headers.add("Stream-Expires-At", rfc3339(*request.expires_at));
  if (request.from) http.target += "?offset=" + offset_text(request.from->offset);
  if (request.at_tail) http.target += "?offset=now";
  return http;
}

Answer understand(const invariants::Request& request, const Result<HttpResponse>& result) {
  Answer answer;
  if (!result) {
    // Nobody listens there: the only absence of an answer that is certain.
    answer.response.outcome =
        result.error().code == ErrorCode::kNotFound ? Outcome::kRefused : Outcome::kUnknown;
    answer.response.code = to_string(result.error().code);
    return answer;
  }
  answer.response.status = result->status;
  const Headers& headers = result->headers;
  if (result->status == 307) {
    answer.response.outcome = Outcome::kRefused;
    if (const auto to = headers.find("Streams-Replay-To")) answer.redirected_to = std::string(*to);
    return answer;
  }
  if (const auto next = headers.find("Stream-Next-Offset")) {
    auto offset = parse_offset(*next);
    if (offset) answer.response.next = *offset;
    if (!offset) answer.unexpected = "Stream-Next-Offset is no offset: " + std::string(*next);
  }
  bool success = result->status >= 200 && result->status < 300;
  if (success) {
    if (const auto type = headers.find("Content-Type")) answer.type = parse_stream_type(*type);
    if (answer.type) answer.response.body_framing = framing(*answer.type);
    understand_success(request, *result, answer);
  } else {
    understand_failure(request, *result, answer);
  }
  return answer;
}

}  // namespace morula::sim
