#include "invariants/lease_rules.hpp"

#include <algorithm>

#include "core/fleet/member.hpp"
#include "core/store/keys.hpp"

namespace morula::invariants {

namespace {

// The default of LeaseConfig.
constexpr uint64_t kMarginPermille = 50;

std::string seconds_text(Time time) {
  return time_text(time.time_since_epoch());
}

}  // namespace

void LeaseRules::step(const StepEvent& event) {
  if (event.step != Step::kRenewLease && event.step != Step::kLoseLease) return;
  auto actor = IncarnationId::parse(event.actor);
  if (!actor) return;
  if (event.step == Step::kLoseLease) {
    beliefs_.erase(actor->name);
  } else {
    beliefs_[actor->name] = {std::string(event.actor),
                             Time(Duration(static_cast<int64_t>(event.position)))};
  }
}

void LeaseRules::stopped(std::string_view process) {
  if (auto found = beliefs_.find(process); found != beliefs_.end()) beliefs_.erase(found);
}

void LeaseRules::object_written(std::string_view key, std::string_view body, Duration now) {
  if (!clocks_ || !key.starts_with(keys::kMembers)) return;
  auto member = decode_member(body);
  if (!member) return;
  auto belief = beliefs_.find(member->incarnation.name);
  if (belief == beliefs_.end() || belief->second.incarnation != member->incarnation.text()) return;
  const auto local = clocks_(member->incarnation.name);
  if (!local) return;
  if (member->state == MemberState::kLive) {
    // A renewal that shortens the lease counts from its send, which is no later than its landing.
    const Duration usable = member->lease - lease_margin(member->lease, kMarginPermille);
    belief->second.until = std::min(belief->second.until, *local + usable);
    return;
  }
  if (member->state != MemberState::kExpired || *local >= belief->second.until) return;
  violations_.report(Invariant::kOwnershipRule, now,
                     member->writer.text() + " has set " + member->incarnation.text() +
                         " to expired, which may still answer reads: its lease holds until " +
                         seconds_text(belief->second.until) + " of its own clock, which shows " +
                         seconds_text(*local) + " (Reads)");
}

}  // namespace morula::invariants
