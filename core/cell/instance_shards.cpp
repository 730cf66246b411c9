// How an instance comes to serve shards: it looks who owns what, takes over from the dead, and
// opens what others have given to it.
#include <algorithm>
#include <array>
#include <set>

#include "core/base/mutant.hpp"
#include "core/cell/instance_impl.hpp"
#include "core/cell/share_out.hpp"
#include "core/cell/stored_data.hpp"
#include "core/log/fence.hpp"
#include "core/lsm/manifest_succession.hpp"
#include "core/rt/trace.hpp"
#include "core/shard/replay.hpp"
#include "core/store/keys.hpp"
#include "core/topology/takeover.hpp"

namespace morula {

namespace {

// So many looks long the survivors leave each other their parts; then whoever is there takes all.
constexpr int kLooksForOthers = 2;

/// While it lives this instance opens nothing of `prefixes` as given: it is adopting that itself.
class Adopting {
 public:
  explicit Adopting(std::vector<Prefix>& prefixes) : prefixes_(prefixes) {}
  ~Adopting() { prefixes_.clear(); }
  Adopting(const Adopting&) = delete;
  Adopting& operator=(const Adopting&) = delete;

 private:
  std::vector<Prefix>& prefixes_;
};

}  // namespace

// Reads the topology, and looks after every owner that isn't this incarnation.
Result<> Instance::Impl::look() {
  const bool had_one = shards.topology().has_value();
  auto topology = read_topology(env, config.retry);
  MORULA_TRY(topology);
  if (!*topology) return begin_cell(had_one);
  std::set<IncarnationId> owners;
  for (const TopologyShard& row : (*topology)->content.shards) {
    if (row.owner != self) owners.insert(row.owner);
  }
  shards.learn(std::move((*topology)->content));
  std::erase_if(over_since, [&](const auto& entry) { return !owners.contains(entry.first); });
  open_named();  // a takeover is slow, and what was given waits for nobody's log but its own
  for (const IncarnationId& owner : owners) {
    auto seen = membership.look_at(owner);
    MORULA_TRY(seen);
    if (!*seen) {
      env.trace.log(Severity::kWarning, "owner_without_document", {{"owner", owner.text()}});
    } else if (!(*seen)->over) {
      shards.learn_address(owner, (*seen)->address);
    } else {
      MORULA_TRY(take_over(owner, (*seen)->acknowledged_hint));
    }
  }
  open_named();
  receiver->forget_old();
  return {};
}

/// Creates the first topology, unless there must have been one: it was deleted, then, by hand.
/// `had_one`: this instance had seen one before it asked.
Result<> Instance::Impl::begin_cell(bool had_one) {
  if (had_one) return fail(ErrorCode::kCorrupt, "topology.json is gone");
  // The answer that there is none was late.
  const bool told_meanwhile = shards.topology().has_value();
  env.trace.sometimes("a topology was learnt before an answer that there is none", told_meanwhile);
  if (told_meanwhile) return {};
  if (auto no_data = require_no_data(env, config.retry, keys::kTopology); !no_data) {
    auto topology = read_topology(env, config.retry);
    MORULA_TRY(topology);
    if (!*topology) return no_data;
    return {};  // another was faster; the next look sees it
  }
  const Adopting first_shards(adopting);
  adopting.push_back(Prefix{});
  auto first = takeover->create_first_topology(config.first_prefix_bits);
  MORULA_TRY(first);
  return serve(std::move(*first));
}

/// Whether the other survivors have had time enough for their parts.
bool Instance::Impl::takes_all(const IncarnationId& victim) {
  const Time since = over_since.try_emplace(victim, env.clock.now()).first->second;
  return env.clock.now() - since >= kLooksForOthers * config.lease.watch_interval;
}

Takeover::Part Instance::Impl::part_of(const IncarnationId& victim, bool all) {
  struct Shares {
    std::optional<Version> of;
    std::map<Prefix, std::string> shares;
  };
  return [this, victim, all, known = Shares{}](const Topology& topology,
                                               const TopologyShard& row) mutable {
    // It was here, was given away or taken, and has an owner that is over by now: what is left of
    // it here goes first.
    const bool left = shards.is_here(row.prefix);
    env.trace.sometimes("a shard came back before it was gone", left);
    if (left) return false;
    if (!all) {
      if (known.of != topology.version) {
        known = {topology.version, share_out(topology, victim, membership.live())};
      }
      if (known.shares.at(row.prefix) != self.name) return false;
    }
    adopting.push_back(row.prefix);
    return true;
  };
}

Result<> Instance::Impl::take_over(const IncarnationId& owner, LogSeq hint) {
  if (ending.is_set()) return {};  // it gives its own away
  const Adopting part_of_it(adopting);
  const bool all = takes_all(owner);
  const Takeover::Part part = part_of(owner, all);
  const std::optional<Topology>& known = shards.topology();
  if (std::ranges::none_of(known->shards, [&](const TopologyShard& row) {
        return row.owner == owner && part(*known, row);
      })) {
    return {};
  }
  env.trace.log(Severity::kInfo, "taking_over", {{"from", owner.text()}});
  Result<LogSeq> fence(hint);
  if (!mutated(Mutant::adopt_before_fence_check)) {
    fence = fence_log(env, self, owner, hint, config.log.window, config.retry);
    MORULA_TRY(fence);
  }
  auto adopted = [&] {
    const MutexLock window(changes->topology_mutex());
    return takeover->run(owner, *fence, part);
  }();
  MORULA_TRY(adopted);
  env.trace.sometimes("survivors shared a dead member's shards", !all && !adopted->empty());
  return serve(std::move(*adopted));
}

Result<std::vector<std::shared_ptr<Shard>>> Instance::Impl::open_adopted(
    std::vector<AdoptedShard> adopted) {
  auto topology = read_topology(env, config.retry);
  MORULA_TRY(topology);
  if (!*topology) return fail(ErrorCode::kCorrupt, "topology.json is gone");
  std::vector<std::shared_ptr<Shard>> opened;
  for (AdoptedShard& shard : adopted) {
    const TopologyShard* row = (*topology)->content.find(shard.prefix);
    if (row == nullptr || row->manifest != shard.manifest_key) continue;  // already another's
    opened.push_back(make_shard(std::move(shard)));
    MORULA_TRY(opened.back()->open_tables());
  }
  MORULA_TRY(replay_closed_ranges(env, config.retry, *log, opened));
  shards.learn(std::move((*topology)->content));
  return opened;
}

/// Whether others have taken any of these meanwhile: then what they need may be gone.
Result<bool> Instance::Impl::were_taken(const std::vector<std::string>& manifests) {
  auto topology = read_topology(env, config.retry);
  MORULA_TRY(topology);
  if (!*topology) return false;
  const std::vector<TopologyShard>& rows = (*topology)->content.shards;
  return std::ranges::any_of(manifests, [&](const std::string& key) {
    return std::ranges::find(rows, key, &TopologyShard::manifest) == rows.end();
  });
}

Result<> Instance::Impl::serve(std::vector<AdoptedShard> adopted) {
  if (adopted.empty()) return {};
  std::vector<std::string> manifests;
  manifests.reserve(adopted.size());
  for (const AdoptedShard& shard : adopted) manifests.push_back(shard.manifest_key);
  auto opened = open_adopted(std::move(adopted));
  if (!opened) {
    const auto taken = were_taken(manifests);
    if (taken && *taken) {
      env.trace.sometimes("an adopted shard was another's before it was open", true);
      env.trace.log(Severity::kWarning, "taken_while_opening", {{"error", opened.error().message}});
      end_with(Ended::kLeaseLost);
      return fail(ErrorCode::kLeaseLost, "another member has taken what this one was opening");
    }
    // The topology names this incarnation, which can't serve: it ends, so that others may try.
    end_with(opened.error());
    return fail(opened.error());
  }
  for (const auto& shard : *opened) begin_serving(shard);
  return {};
}

void Instance::Impl::begin_serving(const std::shared_ptr<Shard>& shard) {
  if (ending.is_set()) return;
  const bool replayed = shard->manifest().logs.size() > 1;
  shards.serve(shard);
  run_shard(shard);
  if (replayed) shard->request_flush();  // frees the last owner's log
  env.trace.log(Severity::kInfo, "serving",
                {{"shard", shard->prefix().text()}, {"epoch", shard->epoch().value}});
}

void Instance::Impl::open_named() {
  const std::optional<Topology>& topology = shards.topology();
  if (!topology || ending.is_set()) return;
  for (const TopologyShard& row : topology->shards) {
    if (row.owner != self || shards.is_here(row.prefix)) continue;
    const auto overlaps = [&](Prefix prefix) { return prefix.overlaps(row.prefix); };
    if (std::ranges::any_of(adopting, overlaps)) continue;
    auto hold = shards.hold({row.prefix});
    if (!hold) continue;
    auto held = std::make_shared<ShardMap::Hold>(std::move(*hold));
    fibers->spawn("open_given", [this, row, held] {
      open_row(row);
      held->release();
    });
  }
}

void Instance::Impl::open_row(const TopologyShard& row) {
  auto opened = open_given(row);
  if (opened) {
    const TopologyShard* now = shards.topology()->find(row.prefix);
    if (now == nullptr || now->manifest != row.manifest) return;  // given on, or taken
    begin_serving(*opened);
    return;
  }
  const auto taken = were_taken({row.manifest});
  if (!taken || *taken) return;  // the next look sees
  env.trace.log(Severity::kWarning, "given_shard_not_open",
                {{"shard", row.prefix.text()}, {"error", opened.error().message}});
  end_with(opened.error());
}

// Step Replay
Result<std::shared_ptr<Shard>> Instance::Impl::open_given(const TopologyShard& row) {
  auto manifest = receiver->named_manifest(row.manifest);
  MORULA_TRY(manifest);
  const auto from = open_from(manifest->content, self);
  if (!from) return fail(ErrorCode::kCorrupt, row.manifest + ": names no log of its owner");
  AdoptedShard named{row.prefix,           row.epoch,      self, row.manifest,
                     std::move(*manifest), log->pin(*from)};
  std::shared_ptr<Shard> shard = receiver->take(row.prefix);
  if (shard != nullptr) {
    const auto current = shard->settle(named);
    MORULA_TRY(current);
    env.trace.sometimes("a shard that was opened ahead was outdated", !*current);
    if (!*current) shard = nullptr;
  }
  if (shard == nullptr) {
    shard = make_shard(std::move(named));
    MORULA_TRY(shard->open_tables());
  }
  const std::array<std::shared_ptr<Shard>, 1> opened{shard};
  MORULA_TRY(replay_closed_ranges(env, config.retry, *log, opened));
  return shard;
}

}  // namespace morula
