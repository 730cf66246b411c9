#include "core/cell/shard_changes.hpp"

#include <algorithm>

#include "core/base/mutant.hpp"
#include "core/lsm/manifest_succession.hpp"
#include "core/rt/clock.hpp"
#include "core/rt/random.hpp"
#include "core/rt/trace.hpp"
#include "core/store/backoff.hpp"

namespace morula {

namespace {

// Others change the topology, too: who loses a few times in a row lets the caller decide.
constexpr int kAttemptsMax = 8;

std::vector<Prefix> prefixes_of(const std::vector<std::shared_ptr<Shard>>& shards) {
  std::vector<Prefix> prefixes;
  prefixes.reserve(shards.size());
  for (const auto& shard : shards) prefixes.push_back(shard->prefix());
  return prefixes;
}

Error busy(std::string message) {
  return {ErrorCode::kBusy, std::move(message), 1000};
}

}  // namespace

ShardChanges::ShardChanges(const Env& env, const RetryConfig& retry, LogWriter& log, ShardMap& map,
                           ShardHost& host)
    : env_(env),
      retry_(retry),
      log_(log),
      map_(map),
      host_(host),
      change_(env, retry, log.incarnation()) {}

Result<ShardChanges::Held> ShardChanges::hold(const std::vector<Prefix>& prefixes) {
  Held held;
  for (const Prefix prefix : prefixes) {
    auto shard = map_.served().find_shard(prefix);
    if (shard == nullptr || !map_.served().serves(prefix)) {
      return fail(ErrorCode::kMoved, "this instance does not serve shard " + prefix.text());
    }
    held.shards.push_back(std::move(shard));
  }
  auto hold = map_.hold(prefixes);
  if (!hold) return fail(busy("another change of the shard is under way"));
  held.hold = std::move(*hold);
  for (const auto& shard : held.shards) {
    held.locks.emplace_back(shard->manifest_mutex());
    if (shard->may_change()) continue;
    shard->request_flush();
    return fail(busy("the shard was taken over a moment ago, and is still being written down"));
  }
  return held;
}

Result<Changed> ShardChanges::split(Prefix prefix) {
  if (prefix.length == Prefix::kMaxLength) {
    return fail(ErrorCode::kInvalid, "a shard of " + std::to_string(Prefix::kMaxLength) +
                                         " bits can't be split further");
  }
  auto held = hold({prefix});
  MORULA_TRY(held);
  const std::shared_ptr<Shard> parent = held->shards.front();
  if (mutated(Mutant::split_during_flush)) held->locks.clear();
  const Build halves = [&] {
    std::vector<AdoptedShard> next;
    for (const bool bit : {false, true}) {
      const Prefix half = prefix.child(bit);
      next.push_back({half,
                      next_epoch(parent->epoch()),
                      log_.incarnation(),
                      {},
                      {narrowed(parent->manifest(), half), {}},
                      log_.pin(parent->from())});
    }
    return next;
  };
  return change(*held, halves,
                [&](std::vector<AdoptedShard> next) { Split(parent, std::move(next)); });
}

// Step Split
void ShardChanges::Split(const std::shared_ptr<Shard>& parent, std::vector<AdoptedShard> halves) {
  Shards fresh;
  Shard* const before[] = {parent.get()};
  for (AdoptedShard& half : halves) {
    fresh.push_back(host_.make_shard(std::move(half)));
    fresh.back()->inherit(before);
  }
  const bool replaced = map_.served().replace({parent->prefix()}, fresh);
  parent->retire();
  if (!replaced) return;  // nothing is served any more
  for (const auto& shard : fresh) host_.run_shard(shard);
  env_.trace.step({Step::kSplit, log_.incarnation().text(), parent->prefix().text(),
                   fresh.front()->epoch().value});
}

Result<Changed> ShardChanges::merge(Prefix prefix) {
  if (prefix.length == Prefix::kMaxLength) {
    return fail(ErrorCode::kInvalid, "shard " + prefix.text() + " has no halves");
  }
  auto held = hold({prefix.child(false), prefix.child(true)});
  MORULA_TRY(held);
  const Shards halves = held->shards;
  const Build whole = [&] {
    const Shard& low = *halves[0];
    const Shard& high = *halves[1];
    std::vector<AdoptedShard> next;
    next.push_back({prefix,
                    next_epoch(std::max(low.epoch(), high.epoch())),
                    log_.incarnation(),
                    {},
                    {merged(low.manifest(), high.manifest()), {}},
                    log_.pin(std::min(low.from(), high.from()))});
    return next;
  };
  return change(*held, whole,
                [&](std::vector<AdoptedShard> next) { Merge(halves, std::move(next)); });
}

// Step Merge
void ShardChanges::Merge(const Shards& halves, std::vector<AdoptedShard> whole) {
  const std::shared_ptr<Shard> fresh = host_.make_shard(std::move(whole.front()));
  Shard* const before[] = {halves[0].get(), halves[1].get()};
  fresh->inherit(before);
  const bool replaced = map_.served().replace(prefixes_of(halves), {fresh});
  for (const auto& half : halves) half->retire();
  if (!replaced) return;  // nothing is served any more
  host_.run_shard(fresh);
  env_.trace.step(
      {Step::kMerge, log_.incarnation().text(), fresh->prefix().text(), fresh->epoch().value});
}

Result<Changed> ShardChanges::change(
    Held& held, const Build& build,
    const std::function<void(std::vector<AdoptedShard>)>& take_effect) {
  std::string why = "others change the topology all the time";
  Backoff backoff(env_, retry_, "topology");
  for (int made = 1;; ++made) {
    auto ended = attempt(held.shards, build);
    if (ended && ended->end == Attempt::End::kLanded) {
      take_effect(std::move(ended->next));
      const Version version = ended->now.version;
      held.hold.release();
      map_.learn(std::move(ended->now));
      return Changed{true, version};
    }
    if (ended && ended->end == Attempt::End::kLost) {
      return after_loss(std::move(held), std::move(ended->now));
    }
    env_.trace.sometimes("a change of the topology lost its CAS", ended.has_value());
    if (!ended) why = ended.error().message;
    if (!ended || made == kAttemptsMax) break;
    backoff.pause({ErrorCode::kBusy, why});
  }
  Reopen(held.shards);
  return fail(busy(std::move(why)));
}

Result<Changed> ShardChanges::after_loss(Held held, Topology now) {
  const std::string prefix = held.shards.front()->prefix().text();
  Reopen(held.shards);  // of two halves one may be left
  held.locks.clear();
  held.hold.release();
  map_.learn(std::move(now));
  return fail(ErrorCode::kMoved, "shard " + prefix + " is another's now");
}

Result<ShardChanges::Attempt> ShardChanges::attempt(const Shards& before, const Build& build) {
  const MutexLock window(topology_mutex_);
  auto base = read_topology(env_, retry_);
  MORULA_TRY(base);
  if (!*base) return fail(ErrorCode::kCorrupt, "topology.json is gone");
  if (!still_names((*base)->content, before)) {
    return Attempt{Attempt::End::kLost, {}, std::move((*base)->content)};
  }
  const auto sealed = seal_all(before);
  MORULA_TRY(sealed);
  if (!*sealed) return Attempt{Attempt::End::kLost, {}, std::move((*base)->content)};
  std::vector<AdoptedShard> next = build();
  MORULA_TRY(change_.put_manifests(next, (*base)->content.version));
  return publish(**base, before, std::move(next));
}

Result<ShardChanges::Attempt> ShardChanges::publish(const Versioned<Topology>& base,
                                                    const Shards& before,
                                                    std::vector<AdoptedShard> next) {
  auto outcome = change_.Publish(base, prefixes_of(before), next);
  MORULA_TRY(outcome);
  Attempt ended{Attempt::End::kLanded, std::move(next), std::move(outcome->now)};
  if (!outcome->landed) {
    ended.end = still_names(ended.now, before) ? Attempt::End::kFailed : Attempt::End::kLost;
  }
  return ended;
}

bool ShardChanges::still_names(const Topology& topology, const Shards& shards) const {
  return std::ranges::all_of(shards, [&](const auto& shard) {
    const TopologyShard* row = topology.find(shard->prefix());
    return row != nullptr && row->owner == log_.incarnation() &&
           row->manifest == shard->manifest_key();
  });
}

/// False: somebody else has sealed one, and will name himself.
Result<bool> ShardChanges::seal_all(const Shards& shards) {
  if (mutated(Mutant::split_during_flush)) return true;
  for (const auto& shard : shards) {
    if (mutated(Mutant::seal_one_of_two) && shard != shards.front()) continue;
    const auto sealed = shard->Seal();
    MORULA_TRY(sealed);
    if (*sealed == Shard::Swapped::kSealed) return false;
  }
  return true;
}

// Step Reopen
void ShardChanges::Reopen(const Shards& shards) {
  if (mutated(Mutant::no_reopen)) return;
  for (const auto& shard : shards) {
    if (!shard->manifest().sealed) continue;
    Backoff backoff(env_, retry_, shard->manifest_key());
    const Build copy = [&] {
      std::vector<AdoptedShard> next;
      next.push_back({shard->prefix(),
                      next_epoch(shard->epoch()),
                      log_.incarnation(),
                      {},
                      {unsealed(shard->manifest()), {}},
                      log_.pin(shard->from())});
      return next;
    };
    while (!log_.fenced()) {
      auto ended = attempt({shard}, copy);
      if (ended && ended->end == Attempt::End::kLanded) {
        shard->reopen(std::move(ended->next.front()));
        map_.learn(std::move(ended->now));
        env_.trace.step({Step::kReopen, log_.incarnation().text(), shard->prefix().text(),
                         shard->epoch().value});
        break;
      }
      if (ended && ended->end == Attempt::End::kLost) break;
      backoff.pause(ended ? Error{ErrorCode::kBusy, "others change the topology"} : ended.error());
    }
  }
}

}  // namespace morula
