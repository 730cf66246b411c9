#include "core/fleet/watch.hpp"

#include "core/base/mutant.hpp"
#include "core/rt/clock.hpp"
#include "core/rt/random.hpp"
#include "core/rt/trace.hpp"
#include "core/store/keys.hpp"
#include "core/store/read_document.hpp"

namespace morula {

MemberWatch::MemberWatch(const Env& env, const LeaseConfig& config, const RetryConfig& retry,
                         IncarnationId self, const std::string& name)
    : env_(env), config_(config), retry_(retry), self_(std::move(self)), key_(keys::member(name)) {}

Duration MemberWatch::remaining() const {
  if (!member_) return Duration{};
  const Time over =
      first_seen_ + member_->lease + lease_margin(member_->lease, config_.margin_permille);
  return std::max(Duration{}, over - env_.clock.now());
}

Result<MemberWatch::Seen> MemberWatch::look() {
  const Time sent = env_.clock.now();
  auto found = read_document(env_, key_, Purpose::kHeartbeat, retry_, decode_member);
  MORULA_TRY(found);
  if (!*found) {
    member_.reset();
    return Seen::kAbsent;
  }
  Member& current = (*found)->content;
  if (!member_ || member_->version != current.version || etag_ != (*found)->etag) {
    first_seen_ = mutated(Mutant::watch_from_send) ? sent : env_.clock.now();
    etag_ = (*found)->etag;
  }
  member_ = std::move(current);
  if (member_->state != MemberState::kLive) return Seen::kOver;

  const bool gone = env_.platform.provably_gone(member_->process);
  const bool may_hold = !gone && remaining() > Duration{};
  if (may_hold && !mutated(Mutant::takeover_before_lease_end)) return Seen::kLive;
  if (mutated(Mutant::expire_without_cas)) return Seen::kOver;
  auto expired = Expire();
  MORULA_TRY(expired);
  if (*expired) return Seen::kOver;
  // Another fiber may have looked meanwhile.
  if (!member_) return Seen::kAbsent;
  return member_->state == MemberState::kLive ? Seen::kLive : Seen::kOver;
}

Result<MemberWatch::Seen> MemberWatch::look_at_listed(const Etag& listed) {
  const bool was_over = member_ && member_->state != MemberState::kLive;
  if (was_over && !listed.empty() && listed == etag_) return Seen::kOver;
  return look();
}

// Step Expire
Result<bool> MemberWatch::Expire() {
  Member next = *member_;
  next.version = member_->version + 1;
  next.state = MemberState::kExpired;
  next.writer = self_;
  next.nonce = Ulid::draw(env_.clock.wall(), env_.random);
  auto outcome =
      swap_object(env_, key_, make_blob(encode_member(next)), etag_, Purpose::kHeartbeat, retry_);
  MORULA_TRY(outcome);
  if (!outcome->landed) {  // renewed, or somebody else was first: the next look tells
    etag_.clear();
    return false;
  }
  member_ = std::move(next);
  etag_ = outcome->etag;
  env_.trace.step(
      {Step::kExpire, self_.text(), member_->incarnation.text(), 0, member_->version.value});
  env_.trace.log(Severity::kInfo, "member_expired",
                 {{"member", member_->incarnation.text()}, {"address", member_->address}});
  return true;
}

}  // namespace morula
