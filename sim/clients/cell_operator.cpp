#include "sim/clients/cell_operator.hpp"

#include <algorithm>
#include <array>

#include "core/base/json.hpp"
#include "core/rt/clock.hpp"
#include "core/rt/fiber.hpp"
#include "core/rt/network.hpp"
#include "core/rt/random.hpp"
#include "core/rt/trace.hpp"

namespace morula::sim {

namespace {

using Kind = CellStep::Kind;

constexpr Duration kPatience = std::chrono::seconds(20);

Prefix parent_of(Prefix prefix) {
  return {static_cast<uint16_t>(prefix.bits >> 1), static_cast<uint8_t>(prefix.length - 1)};
}

Prefix half_of(Prefix prefix, uint16_t bit) {
  return {static_cast<uint16_t>(prefix.bits << 1 | bit), static_cast<uint8_t>(prefix.length + 1)};
}

std::string code_of(const HttpResponse& response) {
  const auto body = Json::parse(response.body);
  const Json* error = body ? body->find("error") : nullptr;
  return error == nullptr ? "" : error->string_at("code").value_or("");
}

/// What cell_routes.hpp says of changes that can't be made, or not now.
bool is_foreseen(int status, std::string_view code) {
  constexpr std::array<std::string_view, 16> kCodes = {"no_such_shard",
                                                       "no_such_instance",
                                                       "refused",
                                                       "divided",
                                                       "not_live",
                                                       "nobody_else",
                                                       "moving",
                                                       "cell_busy",
                                                       "moved",
                                                       "drain_incomplete",
                                                       "balance_incomplete",
                                                       "outcome_unknown",
                                                       "store_unavailable",
                                                       "not_serving",
                                                       "rss_shed",
                                                       "append_memory_busy"};
  const bool refused = status == 404 || status == 409 || status == 503 || status == 307;
  return refused && std::ranges::find(kCodes, code) != kCodes.end();
}

}  // namespace

const std::string& CellOperator::some(const Env& env, const std::vector<std::string>& of) const {
  return of[env.random.below(of.size())];
}

void CellOperator::run(const Env& env, const std::function<bool()>& active) {
  while (active()) {
    env.clock.sleep(Duration(env.random.below(static_cast<uint64_t>(habits_.pause.count()) * 2)));
    if (!active()) break;
    if (shards_.empty() || env.random.chance(2, 3)) look(env);
    change_something(env);
  }
  done_ = true;
}

std::string CellOperator::call(const Env& env, const HttpRequest& request) {
  const auto answer = env.network.call(some(env, addresses_), request, env.clock.now() + kPatience);
  ++operations_;
  if (!answer) return {};
  if (answer->status == 200) return answer->body;
  const std::string code = code_of(*answer);
  if (!is_foreseen(answer->status, code)) {
    on_unexpected(request.target + " " + request.body + " was answered " +
                  std::to_string(answer->status) + " " + answer->body);
  }
  env.trace.sometimes("an operator met another change of the shard", code == "cell_busy");
  env.trace.sometimes("an operator asked for what is refused", code == "refused");
  env.trace.sometimes("an operator does not know what became of a change",
                      code == "outcome_unknown");
  return {};
}

void CellOperator::look(const Env& env) {
  HttpRequest request;
  request.method = "GET";
  request.target = std::string(kCellPath);
  const auto json = Json::parse(call(env, request));
  const auto shards = json ? json->array_at("shards") : Result<Json::Array>(Json::Array());
  if (!shards || shards->empty()) return;
  shards_.clear();
  for (const Json& shard : *shards) {
    const auto prefix = Prefix::parse(shard.string_at("prefix").value_or(""));
    if (prefix) shards_.push_back({*prefix, shard.string_at("owner").value_or("")});
  }
}

void CellOperator::change_something(const Env& env) {
  const uint64_t steps = habits_.splits + habits_.merges + habits_.moves;
  if (env.random.below(steps + habits_.relocations) >= steps) return relocate(env);
  const bool nonsense = shards_.empty() || env.random.below(10) < habits_.nonsense;
  const CellStep step = nonsense ? draw_nonsense(env) : draw_step(env);
  if (env.random.below(10) >= habits_.two_at_once) return ask(env, step);
  const CellStep other = draw_relative(env, step);
  with_scope(env.domain, [&](Scope& both) {
    both.spawn("one", [&] { ask(env, step); });
    both.spawn("other", [&] { ask(env, other); });
    both.join();
  });
}

CellStep CellOperator::draw_step(const Env& env) const {
  const Seen& shard = shards_[env.random.below(shards_.size())];
  CellStep step;
  step.prefix = shard.prefix;
  const uint64_t drawn = env.random.below(habits_.splits + habits_.merges + habits_.moves);
  if (drawn >= habits_.splits + habits_.merges) {
    step.kind = Kind::kMove;
    step.to = some(env, names_);
    return step;
  }
  // What can't be done to this one becomes its opposite.
  const bool splits = shard.prefix.length < habits_.bits_max &&
                      (drawn < habits_.splits || shard.prefix.length == 0);
  if (splits) return step;
  step.kind = Kind::kMerge;
  step.prefix = parent_of(shard.prefix);
  return step;
}

/// Of a shard that there may be or not, and to whoever.
CellStep CellOperator::draw_nonsense(const Env& env) const {
  CellStep step;
  step.kind = static_cast<Kind>(env.random.below(3));
  if (habits_.moves == 0) step.kind = static_cast<Kind>(env.random.below(2));
  for (auto length = env.random.below(habits_.bits_max); length > 0; --length) {
    step.prefix = half_of(step.prefix, static_cast<uint16_t>(env.random.below(2)));
  }
  if (step.kind == Kind::kMove) step.to = env.random.chance(1, 4) ? "nobody" : some(env, names_);
  return step;
}

/// Another step of the same shard, of its half or of what it is a half of.
CellStep CellOperator::draw_relative(const Env& env, const CellStep& of) const {
  CellStep step = draw_nonsense(env);
  step.prefix = of.prefix;
  const uint64_t which = env.random.below(4);
  if (which == 0 && of.prefix.length > 0) step.prefix = parent_of(of.prefix);
  if (which == 1 && of.prefix.length + 1 < habits_.bits_max) {
    step.prefix = half_of(of.prefix, static_cast<uint16_t>(env.random.below(2)));
  }
  return step;
}

void CellOperator::ask(const Env& env, const CellStep& step) {
  const HttpRequest request = step_request(step);
  const Version asked_at = now();
  const std::string body = call(env, request);
  if (body.empty()) return;
  const auto answer = parse_changed(body);
  if (!answer) return on_unexpected(request.target + " was answered " + body);
  env.trace.sometimes("an operator asked for what was so already", !answer->changed);
  on_done(step, *answer, asked_at);
}

void CellOperator::relocate(const Env& env) {
  HttpRequest request;
  request.method = "POST";
  const bool drains = env.random.chance(1, 2);
  request.target = std::string(kCellPath) + (drains ? "/drain" : "/balance");
  request.headers.set("Content-Type", "application/json");
  Json::Object body;
  if (drains) body.emplace("instance", some(env, names_));
  request.body = Json(std::move(body)).compact();
  call(env, request);
}

}  // namespace morula::sim
