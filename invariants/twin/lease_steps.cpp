#include "invariants/twin/lease_steps.hpp"

namespace morula::invariants::twin {

namespace {

using Action = spec::Lease::Action;
using State = spec::LeaseState;

constexpr std::string_view kSpec = "Lease";
// Lengths are told apart, and no more.
constexpr int kLength = 2;
constexpr int kOtherLength = 1;

spec::Lease twin() {
  spec::Lease::Constants c;
  c.lengths = {kOtherLength, kLength};
  return spec::Lease(std::move(c));
}

State::Document projected(MemberState state) {
  switch (state) {
    case MemberState::kLive:
      return State::Document::kLive;
    case MemberState::kExpired:
      return State::Document::kExpired;
    case MemberState::kStopped:
      return State::Document::kStopped;
  }
  return State::Document::kLive;
}

std::string what(const Member& now, const Member& before) {
  return now.writer.text() + " has set the document of " + now.incarnation.text() + " to " +
         std::string(to_string(now.state)) + " (version " + std::to_string(now.version.value) +
         "), which was " + std::string(to_string(before.state)) + " (version " +
         std::to_string(before.version.value) + ", by " + before.writer.text() + ")";
}

}  // namespace

spec::LeaseState LeaseSteps::project(const Document& document) {
  State state;
  state.version = static_cast<int>(document.now.version.value);
  state.document = projected(document.now.state);
  state.document_length = state.lease_length = state.seen_length = kLength;
  state.known_version = static_cast<int>(document.own.value);
  state.serving = document.serving;
  return state;
}

void LeaseSteps::landed(const Member& now) {
  const auto known = documents_.find(now.incarnation.name);
  const bool joins = known == documents_.end() || known->second.now.incarnation != now.incarnation;
  if (joins) {
    if (known != documents_.end() && known->second.now.state == MemberState::kLive) {
      findings_.none(kSpec, what(now, known->second.now));
    }
    documents_.insert_or_assign(now.incarnation.name, Document{now, now.version});
    said_.renewed(now.incarnation, now.version);
    return;
  }
  Document& document = known->second;
  if (now.writer == now.incarnation) {
    renewed(document, now);
  } else {
    expired(document, now);
  }
  document.now = now;
}

/// Sent on the version that the holder wrote last, it can land only if that is still there.
void LeaseSteps::renewed(Document& document, const Member& now) {
  const bool stops = now.state == MemberState::kStopped;
  const bool same = now.lease == document.now.lease;
  State state = project(document);
  spec::Lease::Step step{.action = Action::kRenewLease, .length = same ? kLength : kOtherLength};
  if (stops) step = {.action = Action::kStop};
  for (const spec::Lease::Step& next :
       {step, spec::Lease::Step{.action = Action::kLand, .request = 0}}) {
    if (!findings_.can(kSpec, twin(), state, next)) {
      findings_.cannot(kSpec, spec::Lease::describe(next), what(now, document.now));
      break;
    }
    State after = state;
    twin().take(state, next, after);
    state = std::move(after);
  }
  if (state.version != static_cast<int>(now.version.value) ||
      state.document != projected(now.state)) {
    findings_.differs(kSpec, spec::Lease::describe(step), what(now, document.now));
  }
  document.own = now.version;
  document.serving = document.serving && !stops;
  if (!stops) said_.renewed(now.incarnation, now.version);
}

void LeaseSteps::expired(Document& document, const Member& now) {
  State state = project(document);
  state.expiring = {static_cast<int>(now.version.value) - 1};
  const spec::Lease::Step step{.action = Action::kLandExpire};
  if (!findings_.can(kSpec, twin(), state, step)) {
    findings_.cannot(kSpec, spec::Lease::describe(step), what(now, document.now));
  } else if (now.state != MemberState::kExpired || now.lease != document.now.lease) {
    findings_.differs(kSpec, spec::Lease::describe(step), what(now, document.now));
  }
  said_.expired(now.writer, now.incarnation, now.version);
}

void LeaseSteps::LoseLease(const IncarnationId& holder) {
  const auto known = documents_.find(holder.name);
  // A document that is another incarnation's is lost, too.
  if (known == documents_.end() || known->second.now.incarnation != holder) return;
  const spec::Lease::Step step{.action = Action::kLoseLease};
  if (!findings_.can(kSpec, twin(), project(known->second), step)) {
    findings_.cannot(kSpec, spec::Lease::describe(step),
                     holder.text() + " says that it has lost its lease, but its document is " +
                         std::string(to_string(known->second.now.state)));
  }
  known->second.serving = false;
}

}  // namespace morula::invariants::twin
