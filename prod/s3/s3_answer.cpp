#include "prod/s3/s3_answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <ctime>

namespace morula {
namespace {

/// What a person can do about the codes that a wrong set-up causes.
std::string_view advice_on(std::string_view code) {
  struct Advice {
    std::string_view code;
    std::string_view advice;
  };
  static constexpr Advice kAdvice[] = {
      {"SignatureDoesNotMatch",
       "the secret is not the one of this access key: look at AWS_SECRET_ACCESS_KEY or the "
       "profile"},
      {"InvalidAccessKeyId",
       "the store knows no such access key: look at AWS_ACCESS_KEY_ID, the profile and the "
       "endpoint"},
      {"AccessDenied",
       "these credentials need s3:GetObject, s3:PutObject and s3:DeleteObject on the objects, and "
       "s3:ListBucket on the bucket (without it an absent object can't be told from a forbidden "
       "one)"},
      {"NoSuchBucket",
       "there is no such bucket at this endpoint: create it, or look at --store and --s3-endpoint"},
      {"InvalidBucketName", "look at --store"},
      {"RequestTimeTooSkewed", "the clocks of this machine and of the store differ: set this one"},
      {"NotImplemented",
       "the store lacks something that morula needs: prod/s3/S3.md lists what that is"},
  };
  for (const Advice& known : kAdvice) {
    if (known.code == code) return known.advice;
  }
  return {};
}

bool is_one_of(std::string_view code, std::initializer_list<std::string_view> codes) {
  return std::find(codes.begin(), codes.end(), code) != codes.end();
}

int64_t retry_after_ms(const HttpResponse& answer) {
  const auto value = answer.headers.find("Retry-After");
  if (!value) return 0;
  int64_t seconds = 0;
  const auto [end, error] = std::from_chars(value->data(), value->data() + value->size(), seconds);
  return error == std::errc() && seconds > 0 && seconds < 3600 ? seconds * 1000 : 0;
}

/// Where the store says that the bucket is; empty when it does not.
std::string region_in(const HttpResponse& answer, const S3ErrorBody& body) {
  const auto header = answer.headers.find("x-amz-bucket-region");
  return header && !header->empty() ? std::string(*header) : body.region;
}

bool is_wrong_region(int status, std::string_view code) {
  return is_one_of(code, {"AuthorizationHeaderMalformed", "PermanentRedirect",
                          "IllegalLocationConstraintException", "IncorrectEndpoint"}) ||
         status == 301 || status == 308;
}

/// Refusals by name, whatever their status.
std::optional<std::pair<ErrorCode, S3Remedy>> meaning_of(std::string_view code, int status,
                                                         bool changes) {
  if (is_one_of(code, {"RequestTimeTooSkewed", "RequestExpired"})) {
    return std::pair(ErrorCode::kThrottled, S3Remedy::kSetClock);
  }
  if (is_one_of(code, {"ExpiredToken", "TokenRefreshRequired", "ExpiredTokenException"})) {
    return std::pair(ErrorCode::kThrottled, S3Remedy::kRenewCredentials);
  }
  const bool slow_down = is_one_of(code, {"SlowDown", "Throttling", "ThrottlingException",
                                          "RequestLimitExceeded", "TooManyRequests"});
  if (slow_down || status == 429) return std::pair(ErrorCode::kThrottled, S3Remedy::kSlowDown);
  // Of some stores these mean that a write found too few disks: it may have reached others.
  if (is_one_of(code, {"SlowDownWrite", "SlowDownRead"})) {
    return std::pair(changes ? ErrorCode::kUnavailable : ErrorCode::kThrottled,
                     S3Remedy::kSlowDown);
  }
  if (is_one_of(code, {"RequestTimeout", "IncompleteBody", "BadDigest", "XAmzContentSHA256Mismatch",
                       "ClientDisconnected"})) {
    return std::pair(ErrorCode::kUnavailable, S3Remedy::kNone);  // damaged or cut on the way
  }
  if (is_wrong_region(status, code) || code == "NoSuchBucket") {
    return std::pair(ErrorCode::kInvalid, S3Remedy::kNone);
  }
  return std::nullopt;
}

ErrorCode meaning_of(int status, std::string_view code, bool is_head) {
  switch (status) {
    case 401:
    case 403:
      return ErrorCode::kDenied;
    // HEAD has no body to say more: S3Store::head asks again where it matters.
    case 404:
      return code == "NoSuchKey" || is_head ? ErrorCode::kNotFound : ErrorCode::kUnavailable;
    case 408:
      return ErrorCode::kUnavailable;
    case 409:
      return ErrorCode::kConflict;
    case 412:
      return ErrorCode::kPreconditionFailed;
    case 501:
      return ErrorCode::kUnsupported;
    case 307:
      return ErrorCode::kThrottled;  // a new bucket whose name is not known everywhere yet
    default:
      break;
  }
  if (status >= 400 && status < 500) return ErrorCode::kInvalid;
  return ErrorCode::kUnavailable;
}

std::string message_of(const S3Request& request, const HttpResponse& answer,
                       const S3ErrorBody& body) {
  std::string message = fmt::format("{}: {}", request.what, answer.status);
  if (!body.code.empty()) message += " " + body.code;
  if (!body.message.empty()) message += ": " + body.message;
  const std::string region = region_in(answer, body);
  if (is_wrong_region(answer.status, body.code)) {
    message += region.empty() ? "; the bucket is in another region: say which by --s3-region"
                              : "; the bucket is in another region: say --s3-region " + region;
  } else if (const auto advice = advice_on(body.code); !advice.empty()) {
    message += "; " + std::string(advice);
  } else if (answer.status == 403) {
    message += "; " + std::string(advice_on("AccessDenied"));
  }
  return message;
}

}  // namespace

std::optional<S3Failure> failure_of(const S3Request& request, const HttpResponse& answer) {
  if (answer.status == 200 || answer.status == 204 || answer.status == 206) return std::nullopt;
  const S3ErrorBody body = parse_s3_error(answer.body).value_or(S3ErrorBody{});
  S3Failure failure;
  failure.status = answer.status;
  failure.code = body.code;
  failure.error.message = message_of(request, answer, body);
  failure.error.retry_after_ms = retry_after_ms(answer);
  if (const auto named = meaning_of(body.code, answer.status, request.changes)) {
    failure.error.code = named->first;
    failure.remedy = named->second;
  } else {
    failure.error.code = meaning_of(answer.status, body.code, request.http.method == "HEAD");
    if (answer.status == 503) failure.remedy = S3Remedy::kSlowDown;
  }
  return failure;
}

Error delete_failure(const S3DeleteFailure& failure) {
  ErrorCode code = ErrorCode::kUnavailable;
  if (is_one_of(failure.error.code, {"AccessDenied", "AllAccessDisabled"})) {
    code = ErrorCode::kDenied;
  } else if (failure.error.code == "SlowDown") {
    code = ErrorCode::kThrottled;
  }
  return {
      code,
      fmt::format("delete of {}: {} {}", failure.key, failure.error.code, failure.error.message),
      0};
}

std::optional<WallTime> parse_http_date(std::string_view text) {
  static constexpr std::array<std::string_view, 12> kMonths = {
      "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const std::string copy(text);
  tm utc{};
  char month[4] = {};
  if (std::sscanf(copy.c_str(), "%*3s, %2d %3s %4d %2d:%2d:%2d GMT", &utc.tm_mday, month,
                  &utc.tm_year, &utc.tm_hour, &utc.tm_min, &utc.tm_sec) != 6) {
    return std::nullopt;
  }
  const auto found = std::find(kMonths.begin(), kMonths.end(), month);
  if (found == kMonths.end()) return std::nullopt;
  utc.tm_mon = static_cast<int>(found - kMonths.begin());
  utc.tm_year -= 1900;
  return WallTime{static_cast<int64_t>(::timegm(&utc)) * 1000};
}

}  // namespace morula
