// Who asks the store: an access key, for a while.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/base/units.hpp"

namespace morula {

struct Credentials {
  std::string access_key_id;
  std::string secret_access_key;
  std::string session_token;        // empty with keys that last
  std::optional<WallTime> expires;  // nullopt: never
};

/// Where credentials come from.
class CredentialSource {
 public:
  virtual ~CredentialSource() = default;
  /// For messages: "the environment".
  virtual std::string_view name() const = 0;
  /// Fetches them anew. Suspends; throws Cancelled. kUnavailable and kTimeout pass; kDenied and
  /// kInvalid say what to do.
  virtual Result<Credentials> fetch(Time deadline) = 0;
};

/// "2026-11-29T22:15:24Z" (fractions of a second are ignored); nullopt for anything else.
std::optional<WallTime> parse_utc_time(std::string_view text);

}  // namespace morula
