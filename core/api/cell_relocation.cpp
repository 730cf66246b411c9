#include "core/api/cell_relocation.hpp"

#include <algorithm>

#include "core/api/cell_report.hpp"
#include "core/api/responses.hpp"
#include "core/base/json.hpp"
#include "core/rt/clock.hpp"
#include "core/topology/shard_balance.hpp"

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

/// What became of the moves.
class Progress {
 public:
  /// Makes these, as far as there is time. False: none could be made.
  bool make(const std::vector<ShardMove>& moves, CellStepper& stepper, Clock& clock, Time deadline);
  HttpResponse response(std::string_view name, Version version) const;

 private:
  std::vector<ShardMove> moved_;
  std::map<Prefix, std::string> left_;  // why; of the last round
};

bool Progress::make(const std::vector<ShardMove>& moves, CellStepper& stepper, Clock& clock,
                    Time deadline) {
  left_.clear();
  const size_t moved_before = moved_.size();
  for (const ShardMove& move : moves) {
    if (clock.now() >= deadline) {
      left_[move.prefix] = "there was no time left for it";
      continue;
    }
    auto done = stepper.carry_out({CellStep::Kind::kMove, move.prefix, move.to});
    if (const auto* response = std::get_if<HttpResponse>(&done)) {
      left_[move.prefix] = message_of(*response);
    } else {
      moved_.push_back(move);
    }
  }
  return moved_.size() > moved_before;
}

HttpResponse Progress::response(std::string_view name, Version version) const {
  Json::Array moved;
  for (const ShardMove& move : moved_) {
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
    const std::string code = std::string(name) + "_incomplete";
    const std::string message = std::to_string(left_.size()) +
                                " of the shards could not be moved, the first because " +
                                left_.begin()->second + "; try again";
    answer = busy_response(code, message);
    body.emplace("error", Json::Object{{"code", code}, {"message", message}});
  }
  answer.body = Json(std::move(body)).compact() + "\n";
  return answer;
}

}  // namespace

MovesToMake Drain::moves(const CellView& view) const {
  if (auto refused = refusal(view, instance_)) return std::move(*refused);
  std::map<std::string, uint64_t> load = loads(view, instance_);
  std::vector<ShardMove> moves;
  for (const Prefix prefix : shards_of(view, instance_)) {
    const auto target = std::ranges::min_element(
        load, {}, [](const auto& entry) { return std::pair(entry.second, entry.first); });
    moves.push_back({prefix, target->first});
    ++target->second;
  }
  return moves;
}

MovesToMake Balance::moves(const CellView& view) const {
  return levelling_moves(view.topology, live_names(view));
}

HttpResponse relocate(const Env& env, const ApiConfig& config, CellControl& control,
                      const Relocation& relocation) {
  const Time deadline = env.clock.now() + config.forward_timeout;
  CellStepper stepper(env, config, control, 0, deadline);
  Progress progress;
  while (true) {
    const auto view = control.view();
    if (!view) return unserved_response(view.error(), "cell_busy");
    auto next = relocation.moves(*view);
    if (auto* refused = std::get_if<HttpResponse>(&next)) return std::move(*refused);
    const auto& moves = std::get<std::vector<ShardMove>>(next);
    if (!progress.make(moves, stepper, env.clock, deadline)) {
      return progress.response(relocation.name(), view->topology.version);
    }
  }
}

}  // namespace morula
