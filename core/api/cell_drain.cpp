#include "core/api/cell_drain.hpp"

#include <algorithm>

#include "core/api/cell_report.hpp"
#include "core/api/responses.hpp"
#include "core/base/json.hpp"
#include "core/rt/clock.hpp"

namespace morula {

namespace {

std::vector<Prefix> shards_of(const CellView& view, std::string_view instance) {
  std::vector<Prefix> found;
  for (const TopologyShard& shard : view.topology.shards) {
    if (shard.owner.name == instance) found.push_back(shard.prefix);
  }
  return found;
}

/// Shards of each live instance but that one.
std::map<std::string, uint64_t> loads(const CellView& view, const std::string& without) {
  std::map<std::string, uint64_t> found;
  for (const std::string& name : live_names(view)) found[name] = shards_of(view, name).size();
  found.erase(without);
  return found;
}

/// Why an instance can't be drained; nullopt: it can, or there is nothing to do.
std::optional<HttpResponse> refusal(const CellView& view, const std::string& instance) {
  const auto known = std::ranges::find(view.members, instance, [](const CellView::Known& member) {
    return std::string_view(member.incarnation.name);
  });
  if (known == view.members.end()) {
    return error_response(404, "no_such_instance", "there is no instance " + instance);
  }
  if (shards_of(view, instance).empty()) return std::nullopt;
  if (known->state != MemberState::kLive) {
    return error_response(409, "not_live",
                          "instance " + instance + " is " + std::string(to_string(known->state)) +
                              ": the others take over what it has by themselves");
  }
  if (loads(view, instance).empty()) {
    return error_response(409, "nobody_else", "no other instance is live that could take a shard");
  }
  return std::nullopt;
}

/// The words of an error's body.
std::string message_of(const HttpResponse& response) {
  const auto body = Json::parse(response.body);
  const Json* error = body ? body->find("error") : nullptr;
  const auto message = error != nullptr ? error->string_at("message") : std::string("unknown");
  return message.value_or("unknown");
}

}  // namespace

HttpResponse CellDrain::run() {
  const Time deadline = env_.clock.now() + config_.forward_timeout;
  while (true) {
    const auto view = control_.view();
    if (!view) return unserved_response(view.error(), "cell_busy");
    if (auto refused = refusal(*view, instance_)) return std::move(*refused);
    left_.clear();
    const bool drained = shards_of(*view, instance_).empty();
    if (drained || !move_all(*view, deadline)) return response(view->topology.version);
  }
}

bool CellDrain::move_all(const CellView& view, Time deadline) {
  std::map<std::string, uint64_t> load = loads(view, instance_);
  CellStepper stepper(env_, config_, control_, 0, deadline);
  bool some_moved = false;
  for (const Prefix prefix : shards_of(view, instance_)) {
    if (env_.clock.now() >= deadline) {
      left_[prefix] = "there was no time left for it";
      continue;
    }
    const auto target = std::ranges::min_element(
        load, {}, [](const auto& entry) { return std::pair(entry.second, entry.first); });
    auto done = stepper.carry_out({CellStep::Kind::kMove, prefix, target->first});
    if (const auto* response = std::get_if<HttpResponse>(&done)) {
      left_[prefix] = message_of(*response);
      continue;
    }
    some_moved = true;
    ++target->second;
    moved_.push_back({prefix, target->first});
  }
  return some_moved && env_.clock.now() < deadline;
}

HttpResponse CellDrain::response(Version version) const {
  Json::Array moved;
  for (const Moved& move : moved_) {
    moved.emplace_back(Json::Object{{"prefix", move.prefix.text()}, {"to", move.to}});
  }
  Json::Array left;
  for (const auto& [prefix, why] : left_) {
    left.emplace_back(Json::Object{{"prefix", prefix.text()}, {"why", why}});
  }
  Json::Object body{{"changed", !moved_.empty()},
                    {"version", version.value},
                    {"moved", std::move(moved)},
                    {"left", std::move(left)}};
  HttpResponse answer = changed_response({});
  if (!left_.empty()) {
    const std::string message = std::to_string(left_.size()) + " of the shards of " + instance_ +
                                " could not be moved, the first because " + left_.begin()->second +
                                "; try again";
    answer = busy_response("drain_incomplete", message);
    body.emplace("error", Json::Object{{"code", "drain_incomplete"}, {"message", message}});
  }
  answer.body = Json(std::move(body)).compact() + "\n";
  return answer;
}

}  // namespace morula
