#include "core/base/result.hpp"

#include "core/base/check.hpp"

namespace morula {

std::string_view to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::kNotFound:
      return "not_found";
    case ErrorCode::kPreconditionFailed:
      return "precondition_failed";
    case ErrorCode::kConflict:
      return "conflict";
    case ErrorCode::kThrottled:
      return "throttled";
    case ErrorCode::kTimeout:
      return "timeout";
    case ErrorCode::kUnavailable:
      return "unavailable";
    case ErrorCode::kCorrupt:
      return "corrupt";
    case ErrorCode::kDenied:
      return "denied";
    case ErrorCode::kInvalid:
      return "invalid";
    case ErrorCode::kFull:
      return "full";
    case ErrorCode::kUnsupported:
      return "unsupported";
    case ErrorCode::kFenced:
      return "fenced";
    case ErrorCode::kLeaseLost:
      return "lease_lost";
    case ErrorCode::kMoved:
      return "moved";
    case ErrorCode::kBusy:
      return "busy";
    case ErrorCode::kShed:
      return "shed";
  }
  MORULA_CHECK(false, "an error code without a name");
}

}  // namespace morula
