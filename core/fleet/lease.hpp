// The own member document: joining under a name, renewing the lease, stopping.
//
// A renewal is a CAS from the version that this incarnation wrote last; the lease then holds until
// the time of the FIRST send of that renewal + L - margin on this process's monotonic clock. A
// renewal that shortens the lease caps it from the moment it is sent: it may land although its
// answer is lost, and watchers go by the document. An expired or replaced document is never
// renewed: the incarnation stops as if fenced.
#pragma once

#include <string>

#include "core/base/mutant.hpp"
#include "core/fleet/lease_config.hpp"
#include "core/fleet/member.hpp"
#include "core/rt/env.hpp"
#include "core/rt/sync.hpp"
#include "core/shard/lease_view.hpp"
#include "core/store/conditional.hpp"
#include "core/store/versioned.hpp"

namespace morula {

class Lease : public LeaseView {
 public:
  Lease(const Env& env, const LeaseConfig& config, const RetryConfig& retry, IncarnationId self);

  /// Takes the member document of the own name. If another incarnation holds it live, waits until
  /// it is expired by the rules; kInvalid when that one turns out to be alive: two instances have
  /// one name. Suspends.
  Result<> join();
  /// Renews the lease. `alone`: no other live member is known. False when the lease is lost, which
  /// `lost()` tells too. Errors are the store's certain ones; the lease then runs out by itself.
  /// However long the store asks it to wait between attempts, several fit in what is left of the
  /// lease. `table_floor`: see Member. Suspends.
  Result<bool> renew(bool alone, LogSeq acknowledged, uint64_t table_floor = 0);
  /// Writes `stopped`, unless the lease is lost already. The caller serves nothing any more, and no
  /// renewal is under way. Suspends.
  Result<> write_stopped(LogSeq acknowledged);

  bool holds() const override;
  /// Opens when the document was found expired or replaced.
  Event& lost() { return lost_; }
  const Member& member() const { return member_; }

 private:
  Result<ConditionalOutcome> swap(const Member& next, const RetryConfig& retry);
  RetryConfig renewal_retry() const;
  Member next_content(MemberState state, LogSeq acknowledged) const;
  Result<> joined_unheard(const Versioned<Member>& found);
  Result<> await_expiry(Version found);
  Result<> go_on_from(const ConditionalOutcome& lost);
  void RenewLease(Version version);
  void LoseLease(Version found);
  Duration usable(Duration lease) const {
    if (mutated(Mutant::lease_without_margin)) return lease;
    return lease - lease_margin(lease, config_.margin_permille);
  }

  const Env env_;
  const LeaseConfig config_;
  const RetryConfig retry_;
  const IncarnationId self_;
  const std::string key_;
  Member member_;  // what this incarnation wrote last
  Etag etag_;
  Time until_{};  // the lease holds before this time
  Event lost_;
};

}  // namespace morula
