#include "invariants/spec/lease.hpp"

#include <algorithm>
#include <array>

#include "invariants/spec/switches.hpp"

namespace morula::spec {

namespace {

using Action = Lease::Action;

constexpr auto kSwitches = std::to_array<std::string_view>({
#define MORULA_SWITCH_NAME(name) #name,
    MORULA_LEASE_SWITCHES(MORULA_SWITCH_NAME)
#undef MORULA_SWITCH_NAME
});

constexpr auto kActions = std::to_array<std::string_view>({
#define MORULA_ACTION_NAME(name, function, what) #name,
    MORULA_LEASE_ACTIONS(MORULA_ACTION_NAME)
#undef MORULA_ACTION_NAME
});

}  // namespace

std::span<const std::string_view> Lease::actions() {
  return kActions;
}

std::span<const std::string_view> Lease::switches() {
  return kSwitches;
}

Result<Lease> Lease::configured(const ModelConfig& config) {
  using Kind = ModelConfig::Kind;
  MORULA_TRY(config.has_exactly({{"Lengths", Kind::kNumbers},
                                 {"M", Kind::kNumber},
                                 {"Rates", Kind::kNumbers},
                                 {"MaxReq", Kind::kNumber},
                                 {"Skew", Kind::kNumber},
                                 {"Mut", Kind::kStrings}}));
  const auto switches = switches_of(config.strings("Mut"), kSwitches);
  MORULA_TRY(switches);
  Constants c;
  for (const int length : config.numbers("Lengths")) c.lengths.insert(length);
  if (c.lengths.empty()) return fail(ErrorCode::kInvalid, "Lengths: there is none");
  c.margin = config.number("M");
  for (const int rate : config.numbers("Rates")) c.rates.insert(rate);
  c.max_requests = config.number("MaxReq");
  c.skew = config.number("Skew");
  c.switches = *switches;
  return Lease(std::move(c));
}

LeaseState Lease::initial() const {
  State s;
  s.document_length = s.lease_age = s.lease_length = s.seen_length = s.read_length = longest();
  return s;
}

bool Lease::apply(const State& now, const Step& step, State* after) const {
  switch (step.action) {
#define MORULA_ACTION_CASE(name, function, what) \
  case Action::k##name:                          \
    return function(now, step, after);
    MORULA_LEASE_ACTIONS(MORULA_ACTION_CASE)
#undef MORULA_ACTION_CASE
  }
  return false;
}

void Lease::each_step(const State& now, const std::function<void(const Step&)>& call) const {
  for (const int rate : c_.rates) {
    call({.action = Action::kTick, .holder = rate / 10, .watcher = rate % 10});
  }
  for (const int length : c_.lengths) {
    call({.action = Action::kRenewLease, .length = length});
  }
  for (int n = 0; n < now.pending.size(); ++n) {
    for (const Action action : {Action::kRepeat, Action::kLand, Action::kHear}) {
      call({.action = action, .request = n});
    }
  }
  for (const Action action :
       {Action::kStop, Action::kLoseLease, Action::kCheck, Action::kReadSend, Action::kReadAt,
        Action::kReadAnswer, Action::kExpire, Action::kLandExpire, Action::kAcknowledgeElsewhere}) {
    call({.action = action});
  }
}

bool Lease::tick(const State& now, const Step& step, State* after) const {
  if (!c_.rates.contains(10 * step.holder + step.watcher)) return false;
  if (after == nullptr) return true;

  // Ages stop at the length that matters.
  const int watch = longest() + c_.margin;
  after->pending.clear();
  for (LeaseRequest request : now.pending) {
    request.age = std::min(request.age + step.holder, longest());
    after->pending.insert(request);
  }
  after->lease_age = std::min(now.lease_age + step.holder, longest());
  after->watched = std::min(now.watched + step.watcher, watch);
  if (now.reading != State::Reading::kIdle) {
    after->read_age = std::min(now.read_age + step.watcher, watch);
  }
  return true;
}

bool Lease::renew_lease(const State& now, const Step& step, State* after) const {
  if (!now.serving || now.requests >= c_.max_requests) return false;
  if (!c_.lengths.contains(step.length)) return false;
  if (after == nullptr) return true;

  ++after->requests;
  after->pending.insert({after->requests, now.known_version, step.length, 0, false, false});
  const int left = now.lease_length - now.lease_age;
  if ((step.length < left && !on(Switch::capLate)) ||
      (step.length > left && on(Switch::lengthenEarly))) {
    after->lease_age = 0;
    after->lease_length = step.length;
  }
  return true;
}

bool Lease::repeat(const State& now, const Step& step, State* after) const {
  if (!on(Switch::repeatAge) || step.request >= now.pending.size()) return false;
  if (after == nullptr) return true;

  LeaseRequest request = now.pending.at(step.request);
  after->pending.erase(request);
  request.age = 0;
  after->pending.insert(request);
  return true;
}

bool Lease::stop(const State& now, const Step&, State* after) const {
  if (!now.serving || now.requests >= c_.max_requests) return false;
  if (after == nullptr) return true;

  ++after->requests;
  after->serving = on(Switch::stopLate);
  after->pending.insert({after->requests, now.known_version, longest(), 0, true, false});
  return true;
}

bool Lease::land(const State& now, const Step& step, State* after) const {
  if (step.request >= now.pending.size()) return false;
  LeaseRequest request = now.pending.at(step.request);
  if (request.landed || request.base != now.version) return false;
  if (after == nullptr) return true;

  ++after->version;
  after->document_length = request.length;
  after->document = request.stop ? State::Document::kStopped : State::Document::kLive;
  after->pending.erase_if([](const LeaseRequest& other) { return !other.landed; });
  request.landed = true;
  if (!request.stop) after->pending.insert(request);
  return true;
}

bool Lease::hear(const State& now, const Step& step, State* after) const {
  if (step.request >= now.pending.size()) return false;
  const LeaseRequest& request = now.pending.at(step.request);
  if (!request.landed) return false;
  if (after == nullptr) return true;

  after->known_version = std::max(now.known_version, request.base + 1);
  if (on(Switch::leaseFromAnswer)) {
    after->lease_age = 0;
    after->lease_length = request.length;
  } else if (request.length - request.age > now.lease_length - now.lease_age) {
    after->lease_age = request.age;
    after->lease_length = request.length;
  }
  after->pending.erase(request);
  return true;
}

bool Lease::lose_lease(const State& now, const Step&, State* after) const {
  if (!now.serving || now.document != State::Document::kExpired) return false;
  if (after == nullptr) return true;

  if (on(Switch::revive)) {
    after->known_version = now.version;
  } else {
    after->serving = false;
  }
  return true;
}

bool Lease::check(const State& now, const Step&, State* after) const {
  if (!on(Switch::checkCached)) return false;
  if (after != nullptr) after->checked = lease_holds(now);
  return true;
}

bool Lease::read_send(const State& now, const Step&, State* after) const {
  if (now.reading != State::Reading::kIdle) return false;
  if (after != nullptr) after->reading = State::Reading::kSent;
  return true;
}

bool Lease::read_at(const State& now, const Step&, State* after) const {
  if (now.reading != State::Reading::kSent) return false;
  if (after == nullptr) return true;

  after->reading = State::Reading::kRead;
  after->read_version = now.version;
  after->read_length = now.document_length;
  return true;
}

bool Lease::read_answer(const State& now, const Step&, State* after) const {
  if (now.reading != State::Reading::kRead) return false;
  if (after == nullptr) return true;

  after->reading = State::Reading::kIdle;
  after->read_version = 0;
  after->read_length = longest();
  after->seen_length = now.read_length;
  after->read_age = 0;
  if (now.seen != now.read_version) {
    after->seen = now.read_version;
    after->watched = on(Switch::watchFromSend) ? now.read_age : on(Switch::wallClock) ? c_.skew : 0;
  }
  return true;
}

bool Lease::expire(const State& now, const Step&, State* after) const {
  if (!watched_long_enough(now)) return false;
  if (after != nullptr) after->expiring.insert(on(Switch::expireLatest) ? now.version : now.seen);
  return true;
}

bool Lease::land_expire(const State& now, const Step&, State* after) const {
  if (!now.expiring.contains(now.version) || now.document != State::Document::kLive) return false;
  if (after == nullptr) return true;

  ++after->version;
  after->document = State::Document::kExpired;
  after->expiring.clear();
  return true;
}

bool Lease::acknowledge_elsewhere(const State& now, const Step&, State* after) const {
  const bool over = now.document != State::Document::kLive;
  if (!over && !(on(Switch::expireNoCas) && watched_long_enough(now))) return false;
  if (after != nullptr) after->acknowledged_elsewhere = true;
  return true;
}

bool Lease::has_invariant(std::string_view name) {
  return name == "R" || name == "NeverAcked" || name == "NeverRenewed" || name == "NeverShortened";
}

bool Lease::holds(std::string_view invariant, const State& s) const {
  if (invariant == "R") return !s.acknowledged_elsewhere || !can_answer(s);
  if (invariant == "NeverAcked") {
    return !(s.acknowledged_elsewhere && s.document == State::Document::kExpired && s.serving);
  }
  const bool renewed = s.known_version == 2 && can_answer(s);
  return invariant == "NeverRenewed" ? !renewed : !(renewed && s.lease_length < longest());
}

std::string Lease::describe(const Step& step) {
  std::string text(kActions[static_cast<size_t>(step.action)]);
  if (step.action == Action::kTick) {
    text += " holder=" + std::to_string(step.holder) + " watcher=" + std::to_string(step.watcher);
  } else if (step.action == Action::kRenewLease) {
    text += " length=" + std::to_string(step.length);
  } else if (step.action == Action::kRepeat || step.action == Action::kLand ||
             step.action == Action::kHear) {
    text += " request=" + std::to_string(step.request);
  }
  return text;
}

}  // namespace morula::spec
