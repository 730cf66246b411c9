#include "core/api/cell_steps.hpp"

#include <algorithm>

#include "core/api/relay.hpp"
#include "core/api/responses.hpp"
#include "core/base/json.hpp"
#include "core/rt/clock.hpp"
#include "core/rt/trace.hpp"

namespace morula {

namespace {

constexpr std::string_view kBusyCode = "cell_busy";

Prefix half(Prefix prefix, bool second) {
  return {static_cast<uint16_t>(prefix.bits << 1 | (second ? 1 : 0)),
          static_cast<uint8_t>(prefix.length + 1)};
}

bool holds(Prefix larger, Prefix smaller) {
  return smaller.length >= larger.length &&
         smaller.bits >> (smaller.length - larger.length) == larger.bits;
}

bool is_divided(const Topology& topology, Prefix prefix) {
  return std::ranges::any_of(topology.shards, [prefix](const TopologyShard& shard) {
    return shard.prefix != prefix && holds(prefix, shard.prefix);
  });
}

/// Why `prefix` is no shard.
StepRefused no_such_shard(const Topology& topology, Prefix prefix) {
  std::string message = "there is no shard " + prefix.text();
  for (const TopologyShard& shard : topology.shards) {
    if (holds(shard.prefix, prefix)) message += "; shard " + shard.prefix.text() + " holds it";
  }
  if (is_divided(topology, prefix)) message += "; it is divided into smaller ones";
  return {error_response(404, "no_such_shard", message)};
}

StepRefused refused(std::string_view code, const std::string& message) {
  return {error_response(409, code, message)};
}

StepOutlook at_owner(const CellView& view, const TopologyShard& shard) {
  const CellView::Known* owner = live_member(view, shard.owner);
  if (owner != nullptr) return StepOwner{*owner, {}};
  return StepWaits{"shard " + shard.prefix.text() + " belongs to " + shard.owner.text() +
                   ", which is gone; another instance takes it over"};
}

StepOutlook split_outlook(const CellView& view, Prefix prefix) {
  const TopologyShard* shard = view.topology.find(prefix);
  if (shard == nullptr && is_divided(view.topology, prefix)) return StepDone{};
  if (shard == nullptr) return no_such_shard(view.topology, prefix);
  if (prefix.length < Prefix::kMaxLength) return at_owner(view, *shard);
  return refused("refused", "shard " + prefix.text() + " has " +
                                std::to_string(Prefix::kMaxLength) +
                                " bits and can't be split further");
}

StepOutlook merge_outlook(const CellView& view, Prefix prefix) {
  if (prefix.length >= Prefix::kMaxLength) {
    return refused("refused", "no shard has more than " + std::to_string(Prefix::kMaxLength) +
                                  " bits, so " + prefix.text() + " has no halves to merge");
  }
  if (view.topology.find(prefix) != nullptr) return StepDone{};
  if (!is_divided(view.topology, prefix)) return no_such_shard(view.topology, prefix);
  const TopologyShard* halves[2];
  for (const bool second : {false, true}) {
    halves[second ? 1 : 0] = view.topology.find(half(prefix, second));
    if (halves[second ? 1 : 0] != nullptr) continue;
    return refused("divided", half(prefix, second).text() +
                                  " is divided into smaller shards: merge those first");
  }
  StepOutlook place = at_owner(view, *halves[0]);
  if (halves[0]->owner == halves[1]->owner || !std::holds_alternative<StepOwner>(place)) {
    return place;
  }
  return StepApart{halves[1]->prefix, halves[0]->owner.name};
}

StepOutlook move_outlook(const CellView& view, Prefix prefix, const std::string& to) {
  const TopologyShard* shard = view.topology.find(prefix);
  if (shard == nullptr) return no_such_shard(view.topology, prefix);
  const auto target = std::ranges::find(view.members, to, [](const CellView::Known& known) {
    return std::string_view(known.incarnation.name);
  });
  if (target == view.members.end()) {
    return StepRefused{error_response(404, "no_such_instance", "there is no instance " + to)};
  }
  if (target->state != MemberState::kLive) {
    return refused("not_live", "instance " + to + " is " + std::string(to_string(target->state)) +
                                   ": only a live one can take a shard");
  }
  if (shard->owner == target->incarnation) return StepDone{};
  StepOutlook place = at_owner(view, *shard);
  if (auto* owner = std::get_if<StepOwner>(&place)) owner->to = target->incarnation;
  return place;
}

std::string_view name_of(CellStep::Kind kind) {
  switch (kind) {
    case CellStep::Kind::kSplit:
      return "split";
    case CellStep::Kind::kMerge:
      return "merge";
    case CellStep::Kind::kMove:
      return "move";
  }
  return "?";
}

}  // namespace

Result<Changed> parse_changed(const std::string& body) {
  const auto json = Json::parse(body);
  MORULA_TRY(json);
  const auto changed = json->bool_at("changed");
  MORULA_TRY(changed);
  const auto version = json->u64_at("version");
  MORULA_TRY(version);
  return Changed{*changed, Version(*version)};
}

const CellView::Known* live_member(const CellView& view, const IncarnationId& incarnation) {
  const auto found = std::ranges::find(view.members, incarnation, &CellView::Known::incarnation);
  const bool live = found != view.members.end() && found->state == MemberState::kLive;
  return live ? &*found : nullptr;
}

StepOutlook outlook(const CellView& view, const CellStep& step) {
  switch (step.kind) {
    case CellStep::Kind::kSplit:
      return split_outlook(view, step.prefix);
    case CellStep::Kind::kMerge:
      return merge_outlook(view, step.prefix);
    case CellStep::Kind::kMove:
      return move_outlook(view, step.prefix, step.to);
  }
  return StepWaits{};
}

CellStepper::Outcome CellStepper::carry_out(const CellStep& step) {
  const uint64_t attempts_max = hops_ == 0 ? config_.forward_attempts_max : 1;
  Duration pause = config_.forward_pause;
  answer_lost_ = false;
  for (uint64_t made = 1;; ++made) {
    Attempt done = attempt(step);
    if (auto* changed = std::get_if<Changed>(&done)) {
      changed->changed = changed->changed || answer_lost_;
      env_.trace.sometimes("a change of the cell took another attempt", made > 1);
      return *changed;
    }
    if (auto* response = std::get_if<HttpResponse>(&done)) return std::move(*response);
    const Again& again = std::get<Again>(done);
    if (made >= attempts_max || env_.clock.now() >= deadline_) {
      if (answer_lost_) return outcome_unknown_response(again.why);
      return busy_response(again.owner_busy ? kBusyCode : kMovingCode,
                           again.why + "; nothing was done, try again");
    }
    env_.clock.sleep_until(std::min(env_.clock.now() + pause, deadline_));
    pause *= 2;
  }
}

CellStepper::Attempt CellStepper::attempt(const CellStep& step) {
  auto view = control_.view();
  if (!view) return unserved_response(view.error(), kBusyCode);
  StepOutlook seen = outlook(*view, step);
  if (std::holds_alternative<StepDone>(seen)) return Changed{false, view->topology.version};
  if (auto* refusal = std::get_if<StepRefused>(&seen)) return std::move(refusal->response);
  if (auto* waits = std::get_if<StepWaits>(&seen)) return Again{std::move(waits->why)};
  if (const auto* apart = std::get_if<StepApart>(&seen)) return bring_together(*apart);
  const auto& place = std::get<StepOwner>(seen);
  if (place.owner.incarnation == view->self) return attempt_here(step, place);
  if (hops_ == 0) return attempt_there(step, place.owner.address);
  return redirect_response(place.owner.address, step_request(step).target, "the shard");
}

CellStepper::Attempt CellStepper::attempt_here(const CellStep& step, const StepOwner& place) {
  Result<Changed> done;
  switch (step.kind) {
    case CellStep::Kind::kSplit:
      done = control_.split(step.prefix);
      break;
    case CellStep::Kind::kMerge:
      done = control_.merge(step.prefix);
      break;
    case CellStep::Kind::kMove:
      done = control_.move(step.prefix, place.to);
      break;
  }
  if (done) return *done;
  const Error& error = done.error();
  if (is_moving(error)) return Again{error.message};
  if (error.code == ErrorCode::kBusy) return Again{error.message, true};
  if (error.code == ErrorCode::kInvalid) return error_response(409, "refused", error.message);
  return unserved_response(error, kBusyCode);
}

CellStepper::Attempt CellStepper::attempt_there(const CellStep& step, const std::string& address) {
  const Time until = std::min(deadline_, env_.clock.now() + config_.forward_attempt_timeout);
  Relayed relayed = relay(env_, address, step_request(step), 1, until);
  if (auto* undone = std::get_if<RelayUndone>(&relayed)) return Again{std::move(undone->why)};
  if (std::holds_alternative<RelaySentOn>(relayed)) {  // which the next look shows here, too
    env_.trace.sometimes("a change of the cell met an owner that was one no longer", true);
    return Again{address + " does not own it any more"};
  }
  if (auto* unknown = std::get_if<RelayUnknown>(&relayed)) {
    env_.trace.sometimes("a change of the cell was passed on, and its answer lost", true);
    answer_lost_ = true;
    return Again{std::move(unknown->why)};
  }
  auto& answer = std::get<HttpResponse>(relayed);
  if (says(answer, kBusyCode)) return Again{address + " is busy with the shard", true};
  if (answer.status != 200) return std::move(answer);
  const auto changed = parse_changed(answer.body);
  if (changed) return *changed;
  answer_lost_ = true;
  return Again{address + " gave no answer: " + changed.error().message};
}

// Where this was asked of an instance by another one, that one brings them together.
CellStepper::Attempt CellStepper::bring_together(const StepApart& apart) {
  if (hops_ > 0) return Again{"the two halves are not owned by one instance any more"};
  CellStepper stepper(env_, config_, control_, hops_, deadline_);
  Outcome moved = stepper.carry_out({CellStep::Kind::kMove, apart.second, apart.first_owner});
  if (auto* response = std::get_if<HttpResponse>(&moved)) return std::move(*response);
  env_.trace.sometimes("halves that lived apart were moved together to be merged", true);
  return Again{"the halves of the shard are moved again and again"};
}

HttpRequest step_request(const CellStep& step) {
  HttpRequest request;
  request.method = "POST";
  request.target = std::string(kCellPath) + "/" + std::string(name_of(step.kind));
  request.headers.set("Content-Type", "application/json");
  Json::Object body{{"prefix", step.prefix.text()}};
  if (step.kind == CellStep::Kind::kMove) body.emplace("to", step.to);
  request.body = Json(std::move(body)).compact();
  return request;
}

HttpResponse changed_response(const Changed& changed) {
  HttpResponse response;
  response.headers.add("Content-Type", "application/json");
  response.headers.add("Cache-Control", "no-store");
  const Json::Object body{{"changed", changed.changed}, {"version", changed.topology.value}};
  response.body = Json(body).compact() + "\n";
  return response;
}

}  // namespace morula
