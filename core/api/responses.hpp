// Responses that every route gives alike: errors, and the headers that all responses carry.
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/rt/network.hpp"

namespace morula {

/// The code of an error: also for whoever gets its head only.
inline constexpr std::string_view kErrorHeader = "Streams-Error";
/// {"error":{"code","message"}}. `code` is a literal in snake_case.
HttpResponse error_response(int status, std::string_view code, std::string_view message);

/// 503 with `Retry-After`: `retry_after_ms` rounded up, at least a second.
HttpResponse busy_response(std::string_view code, std::string_view message,
                           int64_t retry_after_ms = 0);

/// A read or a change was not carried out because of `error`; `busy_code` names the bound of kBusy.
HttpResponse unserved_response(const Error& error, std::string_view busy_code);

/// True for errors after which somebody else serves the stream, or soon will.
bool is_moving(const Error& error);

/// Code of "this instance doesn't serve the stream now, nothing was done".
inline constexpr std::string_view kMovingCode = "moving";
/// True for a 503 with that code, such as a forward may meet.
bool says(const HttpResponse& response, std::string_view code);
inline bool says_moving(const HttpResponse& response) {
  return says(response, kMovingCode);
}

HttpResponse moving_response();
/// A change may have been carried out, or may still be.
HttpResponse outcome_unknown_response(std::string_view why);

HttpResponse method_not_allowed(std::string_view allowed);

/// What every response to `request` needs: headers that keep browsers from guessing types and
/// embedding, where they are not there yet, and for HEAD no body but its length.
void finish_response(const HttpRequest& request, HttpResponse& response);

}  // namespace morula
