// The credentials of the moment, renewed before they expire and without anybody waiting for it.
#pragma once

#include <memory>
#include <optional>

#include "core/rt/clock.hpp"
#include "core/rt/fiber.hpp"
#include "core/rt/sync.hpp"
#include "core/rt/trace.hpp"
#include "prod/s3/credentials.hpp"

namespace morula {

class CredentialCache {
 public:
  /// Renewed so long before they expire, ...
  static constexpr Duration kRenewBefore = std::chrono::minutes(5);
  /// ... and no longer used so shortly before.
  static constexpr Duration kUseUntil = std::chrono::seconds(15);
  /// After a renewal that failed.
  static constexpr Duration kPause = std::chrono::seconds(10);
  static constexpr Duration kFetchTimeout = std::chrono::seconds(10);

  /// Renews in fibers of `scope`, which is closed before this is destroyed.
  CredentialCache(Clock& clock, Scope& scope, Trace& trace,
                  std::unique_ptr<CredentialSource> source);

  /// Credentials that hold for now. Suspends only while there are none. Errors as `fetch`. Throws
  /// Cancelled.
  Result<Credentials> get(Time deadline);

  /// The store says that `refused` have expired. The next `get` fetches others; not twice for the
  /// same ones.
  void refused(const Credentials& refused);

 private:
  bool hold_for(Duration span) const;
  Result<> fetch(Time deadline);
  void renew_ahead();

  Clock& clock_;
  Scope& scope_;
  Trace& trace_;
  std::unique_ptr<CredentialSource> source_;
  std::optional<Credentials> current_;
  bool renewing_ = false;
  Time rests_until_{};  // a renewal ahead has failed
  Mutex fetching_;
};

}  // namespace morula
