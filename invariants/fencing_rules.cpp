#include "invariants/fencing_rules.hpp"

#include "core/log/log_object.hpp"
#include "core/store/keys.hpp"

namespace morula::invariants {

std::string_view to_string(StopReason reason) {
  switch (reason) {
    case StopReason::kStopped:
      return "stopped";
    case StopReason::kFenced:
      return "fenced";
    case StopReason::kLeaseLost:
      return "lease lost";
    case StopReason::kFailed:
      return "failed";
    case StopReason::kKilled:
      return "killed";
  }
  return "?";
}

void FencingRules::step(const StepEvent& event, Duration now) {
  switch (event.step) {
    case Step::kExpire:
      return Expire(event, now);
    case Step::kFence:
      return Fence(event, now);
    case Step::kFenced:
    case Step::kLoseLease:
      break;
    default:
      return;
  }
  const IncarnationId* actor = names_.parse(event.actor);
  if (actor == nullptr) return;
  ended_by_.emplace(event.actor, event.step);
  if (event.step == Step::kFenced) return Fenced(*actor, LogSeq(event.position), now);
  LoseLease(*actor, now);
}

void FencingRules::Fenced(const IncarnationId& actor, LogSeq seq, Duration now) {
  const std::string* body = objects_.find(keys::log_object(actor, seq));
  std::string there;
  if (body == nullptr) {
    if (reachable_.was_collected(actor, seq)) return;
    there = "there is nothing";
  } else if (auto object = decode_log_object(*body); !object) {
    there = "there is something damaged (" + object.error().message + ")";
  } else if (object->writer == actor) {
    there = object->is_fence ? "there is its own FENCE" : "there is its own batch";
  }
  if (there.empty()) return;
  violations_.report(Invariant::kNoFalseFencing, now,
                     actor.text() + " stops as fenced at seq " + std::to_string(seq.value) +
                         " of its log, but " + there + ": only foreign content fences");
}

std::optional<std::string> FencingRules::still_live(const IncarnationId& incarnation) const {
  const std::string* body = objects_.find(keys::member(incarnation.name));
  if (body == nullptr) return "has no member document";
  auto member = decode_member(*body);
  if (!member) return "has a damaged member document (" + member.error().message + ")";
  if (member->incarnation != incarnation || member->state != MemberState::kLive) {
    return std::nullopt;
  }
  return "is live in its member document (version " + std::to_string(member->version.value) +
         ", by " + member->writer.text() + ")";
}

void FencingRules::LoseLease(const IncarnationId& actor, Duration now) {
  auto live = still_live(actor);
  if (!live) return;
  violations_.report(Invariant::kNoFalseFencing, now,
                     actor.text() + " stops as expired or replaced, but " + *live);
}

void FencingRules::Expire(const StepEvent& event, Duration now) {
  const IncarnationId* victim = names_.parse(event.subject);
  if (victim == nullptr) return;
  auto live = still_live(*victim);
  if (!live) return;
  violations_.report(Invariant::kOwnershipRule, now,
                     std::string(event.actor) + " says it has expired " + victim->text() +
                         ", which " + *live + " (Reads: expiry is a CAS)");
}

void FencingRules::Fence(const StepEvent& event, Duration now) {
  const IncarnationId* victim = names_.parse(event.subject);
  if (victim == nullptr || event.actor == event.subject) return;
  auto live = still_live(*victim);
  if (!live) return;
  violations_.report(Invariant::kOwnershipRule, now,
                     std::string(event.actor) + " has fenced " + victim->text() + ", which " +
                         *live + " (R3: only after it is expired or stopped)");
}

void FencingRules::stopped(std::string_view incarnation, StopReason reason, Duration now) {
  bool fenced = reason == StopReason::kFenced;
  if (!fenced && reason != StopReason::kLeaseLost) return;
  auto step = ended_by_.find(incarnation);
  if (step != ended_by_.end()) return;
  violations_.report(Invariant::kNoFalseFencing, now,
                     std::string(incarnation) + " ended as " + std::string(to_string(reason)) +
                         " without having taken the step " + (fenced ? "Fenced" : "LoseLease"));
}

}  // namespace morula::invariants
