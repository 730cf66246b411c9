#include "core/api/responses.hpp"

#include <algorithm>

#include "core/base/json.hpp"

namespace morula {

HttpResponse error_response(int status, std::string_view code, std::string_view message) {
  HttpResponse response;
  response.status = status;
  response.headers.add("Content-Type", "application/json");
  response.headers.add("Cache-Control", "no-store");
  response.headers.add(kErrorHeader, code);
  response.body =
      R"({"error":{"code":)" + json_quote(code) + R"(,"message":)" + json_quote(message) + "}}\n";
  return response;
}

HttpResponse busy_response(std::string_view code, std::string_view message,
                           int64_t retry_after_ms) {
  HttpResponse response = error_response(503, code, message);
  const int64_t seconds = std::max<int64_t>(1, (retry_after_ms + 999) / 1000);
  response.headers.set("Retry-After", std::to_string(seconds));
  return response;
}

bool is_moving(const Error& error) {
  return error.code == ErrorCode::kFenced || error.code == ErrorCode::kLeaseLost ||
         error.code == ErrorCode::kMoved;
}

HttpResponse unserved_response(const Error& error, std::string_view busy_code) {
  if (is_moving(error)) return moving_response();
  switch (error.code) {
    case ErrorCode::kBusy:
      return busy_response(busy_code, "a bound is reached, nothing was done: " + error.message,
                           error.retry_after_ms);
    case ErrorCode::kShed:
      return busy_response("rss_shed", error.message + "; nothing was done", error.retry_after_ms);
    case ErrorCode::kCorrupt:
    case ErrorCode::kNotFound:
      return error_response(500, "damaged",
                            "what the bucket holds of this stream is damaged or missing: " +
                                error.message + "; look at this instance's log");
    default:
      return busy_response(
          "store_unavailable",
          "the store can't be used at the moment, nothing was done: " + error.message,
          error.retry_after_ms);
  }
}

bool says(const HttpResponse& response, std::string_view code) {
  if (response.status != 503) return false;
  if (const auto said = response.headers.find(kErrorHeader)) return *said == code;
  const auto body = Json::parse(response.body);
  const Json* error = body ? body->find("error") : nullptr;
  return error != nullptr && error->string_at("code") == Result<std::string>(code);
}

HttpResponse moving_response() {
  return busy_response(
      kMovingCode, "the stream is changing hands, nothing was done; try again, here or anywhere");
}

HttpResponse outcome_unknown_response(std::string_view why) {
  return busy_response(
      "outcome_unknown",
      "the change may have been carried out, or may still be: " + std::string(why) +
          "; an append with producer headers and a PUT are safe to repeat as they are");
}

HttpResponse method_not_allowed(std::string_view allowed) {
  HttpResponse response =
      error_response(405, "method_not_allowed", "allowed here: " + std::string(allowed));
  response.headers.set("Allow", std::string(allowed));
  return response;
}

void finish_response(const HttpRequest& request, HttpResponse& response) {
  response.headers.set("X-Content-Type-Options", "nosniff");
  response.headers.set("Cross-Origin-Resource-Policy", "cross-origin");
  if (request.method != "HEAD") return;
  if (response.source) {
    const auto length = response.source->length();
    if (length) response.headers.set("Content-Length", std::to_string(*length));
    response.source.reset();
  } else if (!response.body.empty()) {
    response.headers.set("Content-Length", std::to_string(response.body.size()));
    response.body.clear();
  }
}

}  // namespace morula
