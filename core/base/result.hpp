// How the cell says that something went wrong: a value, never an exception.
//
// Everything that the outside world can cause is a `Result`; a bug of ours is a CHECK
// (core/base/check.hpp). The only exception in the code base is `Cancelled` (core/rt/fiber.hpp).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace morula {

enum class ErrorCode : uint8_t {
  kNotFound,            // the object, stream or address does not exist; certain
  kPreconditionFailed,  // the store says that the condition of a put did not hold; certain
  kConflict,            // the store saw a concurrent request; this one may be repeated as it is
  kThrottled,           // refused for now, nothing was done; wait `Error::retry_after` if it is set
  kTimeout,             // no answer in time: it may have happened, or may still happen
  kUnavailable,         // the other side failed while working on it: it may have happened
  kCorrupt,             // bytes that do not decode or whose checksum is wrong
  kDenied,              // permission is missing; nothing was done
  kInvalid,             // the request itself is wrong; nothing was done
  kFull,                // no space left; nothing was done
  kUnsupported,         // the store lacks this optional ability; nothing was done
  kFenced,              // this incarnation's log was fenced: it must stop for good
  kLeaseLost,           // this incarnation's lease does not hold: it must not answer
  kMoved,               // the shard is not served here (any more)
  kBusy,                // a bound was reached; nothing was done
  kShed,                // the process takes too much memory; nothing was done
};

/// The code's name as logs and error bodies show it: "not_found", "precondition_failed", ...
std::string_view to_string(ErrorCode code);

struct Error {
  ErrorCode code;
  std::string message;         // for a person: what was wrong, and what is allowed
  int64_t retry_after_ms = 0;  // with kThrottled, kBusy, kShed: a hint; 0: none

  friend bool operator==(const Error&, const Error&) = default;
};

/// True when a request that ended with this error may have been carried out, or may still be: it
/// may only be repeated identically, or settled by reading back.
constexpr bool outcome_unknown(ErrorCode code) {
  return code == ErrorCode::kTimeout || code == ErrorCode::kUnavailable ||
         code == ErrorCode::kConflict;
}

template <class T = void>
using Result = tl::expected<T, Error>;

/// `return fail(ErrorCode::kCorrupt, "...")` from any function that returns a Result.
inline tl::unexpected<Error> fail(ErrorCode code, std::string message) {
  return tl::unexpected<Error>(Error{code, std::move(message)});
}
inline tl::unexpected<Error> fail(Error error) {
  return tl::unexpected<Error>(std::move(error));
}

/// Returns the error of `expression` (a Result, or a variable that holds one) from the enclosing
/// function, if it has one.
#define MORULA_TRY(expression)                                                \
  do {                                                                        \
    if (auto&& morula_try_ = (expression); !morula_try_) {                    \
      return tl::unexpected<::morula::Error>(std::move(morula_try_.error())); \
    }                                                                         \
  } while (false)

}  // namespace morula
