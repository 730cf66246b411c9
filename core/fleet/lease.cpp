#include "core/fleet/lease.hpp"

#include <algorithm>

#include "core/base/mutant.hpp"
#include "core/fleet/watch.hpp"
#include "core/rt/clock.hpp"
#include "core/rt/network.hpp"
#include "core/rt/random.hpp"
#include "core/rt/trace.hpp"
#include "core/store/keys.hpp"
#include "core/store/read_document.hpp"

namespace morula {

namespace {

// No pause between the attempts of a renewal is longer than this part of what is left of the lease
// (of a heartbeat, when that is more), so that a few of them come before it runs out.
constexpr int kRenewalPauses = 4;

}  // namespace

Lease::Lease(const Env& env, const LeaseConfig& config, const RetryConfig& retry,
             IncarnationId self)
    : env_(env),
      config_(config),
      retry_(retry),
      self_(std::move(self)),
      key_(keys::member(self_.name)) {
  member_.incarnation = self_;
  member_.lease = config_.lease;
  member_.address = env_.network.address();
  member_.process = env_.platform.self();
}

Member Lease::next_content(MemberState state, LogSeq acknowledged) const {
  Member next = member_;
  next.version = member_.version + 1;
  next.state = state;
  next.acknowledged = acknowledged;
  next.writer = self_;
  next.nonce = Ulid::draw(env_.clock.wall(), env_.random);
  return next;
}

Result<ConditionalOutcome> Lease::swap(const Member& next, const RetryConfig& retry) {
  return swap_object(env_, key_, make_blob(encode_member(next)), etag_, Purpose::kHeartbeat, retry);
}

// A store that asks for patience is asked again all the same while there is a lease to lose.
RetryConfig Lease::renewal_retry() const {
  const Duration pause_max =
      std::max(until_ - env_.clock.now(), config_.heartbeat) / kRenewalPauses;
  RetryConfig retry = retry_;
  retry.backoff_max = std::min(retry.backoff_max, pause_max);
  retry.retry_after_max = std::min(retry.retry_after_max, pause_max);
  return retry;
}

Result<> Lease::join() {
  while (true) {
    auto found = read_document(env_, key_, Purpose::kHeartbeat, retry_, decode_member);
    MORULA_TRY(found);
    Member next = next_content(MemberState::kLive, LogSeq(0));
    const Time sent = env_.clock.now();
    Result<ConditionalOutcome> outcome;
    if (!*found) {
      outcome =
          create_object(env_, key_, make_blob(encode_member(next)), Purpose::kHeartbeat, retry_);
    } else {
      const Member& current = (*found)->content;
      if (current.incarnation == self_ && !mutated(Mutant::expired_is_renewed)) {
        return joined_unheard(**found);
      }
      if (current.state == MemberState::kLive) {
        MORULA_TRY(await_expiry(current.version));
        continue;
      }
      next.version = current.version + 1;
      etag_ = (*found)->etag;
      outcome = swap(next, retry_);
    }
    MORULA_TRY(outcome);
    if (outcome->landed) {
      member_ = next;
      etag_ = outcome->etag;
      until_ = sent + usable(next.lease);
      RenewLease(next.version);
      return {};
    }
    env_.clock.sleep(retry_.backoff_min);
  }
}

// A swap of this very join has landed, its answer came too late, and the document has moved on. If
// it was expired meanwhile, this incarnation is over before it began: it must not be revived.
Result<> Lease::joined_unheard(const Versioned<Member>& found) {
  member_ = found.content;
  etag_ = found.etag;
  if (member_.state == MemberState::kLive) return {};  // the first renewal gives it its lease
  env_.trace.sometimes("an incarnation was expired before it knew that it had joined", true);
  LoseLease(member_.version);
  return fail(ErrorCode::kLeaseLost, self_.text() + " was expired before it had joined");
}

// The name's document is live in another incarnation's hands: most often this instance's own
// earlier run. It must be expired by the rules before its name and shards may be had.
Result<> Lease::await_expiry(Version found) {
  MemberWatch watch(env_, config_, retry_, self_, self_.name);
  while (true) {
    auto state = watch.look();
    MORULA_TRY(state);
    if (*state != MemberWatch::Seen::kLive) return {};
    // One renewal that a dead process had sent may still land; a second one shows that it lives.
    if (watch.member()->version > found + 1) {
      return fail(ErrorCode::kInvalid, "another instance named \"" + self_.name +
                                           "\" is alive at " + watch.member()->address +
                                           "; give each instance of a cell its own name");
    }
    env_.clock.sleep(std::min(config_.watch_interval, watch.remaining()));
  }
}

Result<bool> Lease::renew(bool alone, LogSeq acknowledged, uint64_t table_floor) {
  if (lost_.is_set()) return false;
  while (true) {
    Member next = next_content(MemberState::kLive, acknowledged);
    next.lease = alone ? config_.lease_alone : config_.lease;
    next.table_floor = table_floor;
    const Time sent = env_.clock.now();
    // It may land now and its answer never come: from here on the shorter of both lengths counts.
    if (next.lease < member_.lease) until_ = std::min(until_, sent + usable(next.lease));
    auto outcome = swap(next, renewal_retry());
    MORULA_TRY(outcome);
    if (outcome->landed) {
      Time from = sent;
      if (mutated(Mutant::lease_from_answer)) from = env_.clock.now();
      if (mutated(Mutant::lease_from_repeat)) from = outcome->last_sent;
      member_ = next;
      etag_ = outcome->etag;
      until_ = from + usable(next.lease);
      RenewLease(next.version);
      return true;
    }
    MORULA_TRY(go_on_from(*outcome));
    if (lost_.is_set()) return false;
  }
}

// A swap was lost. Either an earlier one of this incarnation, whose waiter was cancelled, has
// landed after all, and the next begins from there; or the document is expired or another's.
Result<> Lease::go_on_from(const ConditionalOutcome& lost) {
  if (lost.body == nullptr) {
    LoseLease(Version(0));
    return {};
  }
  auto current = decode_member(*lost.body);
  if (!current) return fail(ErrorCode::kCorrupt, key_ + ": " + current.error().message);
  const bool own = current->incarnation == self_;
  if (own && mutated(Mutant::expired_is_renewed)) current->state = MemberState::kLive;
  if (!own || current->state != MemberState::kLive) {
    LoseLease(current->version);
    return {};
  }
  member_ = *current;
  etag_ = lost.etag;
  return {};
}

// Step RenewLease
void Lease::RenewLease(Version version) {
  const auto until = static_cast<uint64_t>(until_.time_since_epoch().count());
  env_.trace.step({Step::kRenewLease, self_.text(), {}, until, version.value});
}

// Step LoseLease
void Lease::LoseLease(Version found) {
  until_ = Time{};
  env_.trace.step({Step::kLoseLease, self_.text(), {}, 0, found.value});
  lost_.set();
}

Result<> Lease::write_stopped(LogSeq acknowledged) {
  until_ = Time{};
  while (!lost_.is_set()) {
    auto outcome = swap(next_content(MemberState::kStopped, acknowledged), retry_);
    MORULA_TRY(outcome);
    if (outcome->landed) return {};
    MORULA_TRY(go_on_from(*outcome));
  }
  return {};
}

bool Lease::holds() const {
  return !lost_.is_set() && env_.clock.now() < until_;
}

}  // namespace morula
