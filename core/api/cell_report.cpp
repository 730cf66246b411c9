#include "core/api/cell_report.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "core/api/cell_steps.hpp"
#include "core/api/relay.hpp"
#include "core/base/json.hpp"
#include "core/rt/clock.hpp"
#include "core/rt/concurrently.hpp"
#include "core/rt/trace.hpp"

namespace morula {

namespace {

constexpr size_t kAskedAtOnce = 8;
constexpr Duration kAnswerMax = std::chrono::seconds(2);  // what is not known by then is old

/// The moves of `member`'s own shards in the body of its `GET /v1/cell`.
Result<std::vector<ShardMove>> parse_moves(const std::string& body, const CellView& view,
                                           const IncarnationId& member) {
  const auto json = Json::parse(body);
  MORULA_TRY(json);
  const auto entries = json->array_at("moves");
  MORULA_TRY(entries);
  std::vector<ShardMove> moves;
  for (const Json& entry : *entries) {
    const auto text = entry.string_at("prefix");
    MORULA_TRY(text);
    const auto prefix = Prefix::parse(*text);
    MORULA_TRY(prefix);
    const auto to = entry.string_at("to");
    MORULA_TRY(to);
    const TopologyShard* shard = view.topology.find(*prefix);
    if (shard != nullptr && shard->owner == member) moves.push_back({*prefix, *to});
  }
  return moves;
}

Result<std::vector<ShardMove>> ask(const Env& env, const CellView& view,
                                   const CellView::Known& member) {
  HttpRequest request;
  request.method = "GET";
  request.target = std::string(kCellPath);
  const Time until = env.clock.now() + kAnswerMax;
  Relayed relayed = relay(env, member.address, request, 1, until);
  const auto* answer = std::get_if<HttpResponse>(&relayed);
  if (answer == nullptr || answer->status != 200) {
    return fail(ErrorCode::kUnavailable, member.address + " does not tell");
  }
  return parse_moves(answer->body, view, member.incarnation);
}

/// Every live instance but this one that owns a shard.
std::vector<CellView::Known> other_owners(const CellView& view) {
  std::set<IncarnationId> owners;
  for (const TopologyShard& shard : view.topology.shards) owners.insert(shard.owner);
  owners.erase(view.self);
  std::vector<CellView::Known> found;
  for (const IncarnationId& owner : owners) {
    if (const CellView::Known* member = live_member(view, owner)) found.push_back(*member);
  }
  return found;
}

Json shard_json(const CellView& view, const TopologyShard& shard) {
  Json::Object json{{"prefix", shard.prefix.text()},
                    {"epoch", shard.epoch.value},
                    {"owner", shard.owner.name},
                    {"incarnation", shard.owner.text()}};
  const CellView::Known* owner = live_member(view, shard.owner);
  json.emplace("live", owner != nullptr);
  if (owner != nullptr) json.emplace("address", owner->address);
  return json;
}

}  // namespace

CellMoves gather_moves(const Env& env, const CellView& view) {
  CellMoves all;
  for (const CellView::Move& move : view.moves) all.moves.push_back({move.prefix, move.to.name});
  const std::vector<CellView::Known> owners = other_owners(view);
  std::vector<Result<std::vector<ShardMove>>> told(owners.size());
  // No body fails: who does not tell is named, and the others count.
  (void)for_each_concurrently(owners.size(), kAskedAtOnce, [&](size_t i) -> Result<> {
    told[i] = ask(env, view, owners[i]);
    return {};
  });
  for (size_t i = 0; i < owners.size(); ++i) {
    if (!told[i]) all.silent.push_back(owners[i].incarnation.name);
    if (told[i]) all.moves.insert(all.moves.end(), told[i]->begin(), told[i]->end());
  }
  env.trace.sometimes("an instance did not tell which of its shards are moving",
                      !all.silent.empty());
  std::ranges::sort(all.moves, {}, [&](const ShardMove& move) {
    return std::ranges::find(view.topology.shards, move.prefix, &TopologyShard::prefix) -
           view.topology.shards.begin();
  });
  return all;
}

std::vector<std::string> live_names(const CellView& view) {
  std::vector<std::string> names;
  for (const CellView::Known& member : view.members) {
    if (member.state == MemberState::kLive) names.push_back(member.incarnation.name);
  }
  std::ranges::sort(names);
  return names;
}

std::string report_of(const CellView& view, const CellMoves& moves) {
  std::map<IncarnationId, uint64_t> owned;
  Json::Array shards;
  for (const TopologyShard& shard : view.topology.shards) {
    ++owned[shard.owner];
    shards.push_back(shard_json(view, shard));
  }
  Json::Array members;
  for (const CellView::Known& member : view.members) {
    members.emplace_back(Json::Object{{"name", member.incarnation.name},
                                      {"incarnation", member.incarnation.text()},
                                      {"address", member.address},
                                      {"state", std::string(to_string(member.state))},
                                      {"shards", owned[member.incarnation]}});
  }
  Json::Array under_way;
  for (const ShardMove& move : moves.moves) {
    Json::Object json{{"prefix", move.prefix.text()}, {"to", move.to}};
    const TopologyShard* shard = view.topology.find(move.prefix);
    if (shard != nullptr) json.emplace("from", shard->owner.name);
    under_way.emplace_back(std::move(json));
  }
  Json::Array silent(moves.silent.begin(), moves.silent.end());
  return Json(Json::Object{{"version", view.topology.version.value},
                           {"asked", view.self.name},
                           {"shards", std::move(shards)},
                           {"members", std::move(members)},
                           {"moves", std::move(under_way)},
                           {"silent", std::move(silent)}})
      .pretty();
}

std::string report_of(const std::vector<CellView::Move>& own) {
  Json::Array moves;
  for (const CellView::Move& move : own) {
    moves.emplace_back(Json::Object{{"prefix", move.prefix.text()}, {"to", move.to.name}});
  }
  return Json(Json::Object{{"moves", std::move(moves)}}).compact() + "\n";
}

std::string report_of(const CellView& view, const CellMoves& moves, StreamId stream) {
  const BucketPlan plan = plan_of(view.topology, live_names(view), moves.moves);
  const BucketPlacement& placement = plan.placement_for(stream);
  Json::Object json{{"version", plan.version().value},
                    {"bucket", plan.bucket_of(stream)},
                    {"owner", placement.member}};
  const CellView::Known* owner = live_member(view, view.topology.shard_of(stream).owner);
  if (owner != nullptr) json.emplace("address", owner->address);
  if (placement.migrating()) json.emplace("to", placement.to);
  return Json(std::move(json)).compact() + "\n";
}

}  // namespace morula
