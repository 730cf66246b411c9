// What an answer of the store means. The one place where a status becomes an ErrorCode.
//
//   412 to a put                       kPreconditionFailed  certain
//   409 to a put                       kConflict            unknown: may be repeated as it is
//   503 SlowDown, 429                  kThrottled           nothing was done
//   other 5xx, 408, odd 2xx            kUnavailable         unknown
//   404 NoSuchKey                      kNotFound            certain; any other 404 is not "absent"
//   403, 401, NoSuchBucket, redirects  kDenied, kInvalid    nothing was done; the message says what
//                                                           to do
//   403 of a clock or key that can be set right             kThrottled: sign again
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/rt/network.hpp"
#include "prod/s3/s3_request.hpp"
#include "prod/s3/s3_xml.hpp"

namespace morula {

/// What the client should do about a refusal besides telling it.
enum class S3Remedy : uint8_t { kNone, kSlowDown, kSetClock, kRenewCredentials };

struct S3Failure {
  Error error;
  int status = 0;
  std::string code;  // as the store calls it: "NoSuchKey"; may be empty
  S3Remedy remedy = S3Remedy::kNone;
};

/// nullopt: it is an answer of success (200, 204, 206).
std::optional<S3Failure> failure_of(const S3Request& request, const HttpResponse& answer);

/// The error of one key of a multi-object delete.
Error delete_failure(const S3DeleteFailure& failure);

/// "Sun, 29 Nov 2026 22:15:24 GMT"; nullopt for anything else.
std::optional<WallTime> parse_http_date(std::string_view text);

}  // namespace morula
