// How an instance comes to serve shards: it looks who owns what, and takes over from the dead.
#include <algorithm>
#include <set>

#include "core/cell/instance_impl.hpp"
#include "core/cell/stored_data.hpp"
#include "core/log/fence.hpp"
#include "core/rt/trace.hpp"
#include "core/shard/replay.hpp"
#include "core/store/keys.hpp"
#include "core/topology/takeover.hpp"

namespace morula {

// Reads the topology, and looks after every owner that isn't this incarnation.
Result<> Instance::Impl::look(Scope& fibers) {
  auto topology = read_topology(env, config.retry);
  MORULA_TRY(topology);
  if (!*topology) return begin_cell(fibers);
  std::set<IncarnationId> owners;
  for (const TopologyShard& row : (*topology)->content.shards) {
    if (row.owner != self) owners.insert(row.owner);
  }
  shards.learn(std::move((*topology)->content));
  for (const IncarnationId& owner : owners) {
    auto seen = membership.look_at(owner);
    MORULA_TRY(seen);
    if (!*seen) {
      env.trace.log(Severity::kWarning, "owner_without_document", {{"owner", owner.text()}});
    } else if (!(*seen)->over) {
      shards.learn_address(owner, (*seen)->address);
    } else {
      MORULA_TRY(take_over(fibers, owner, (*seen)->acknowledged_hint));
    }
  }
  return {};
}

/// Creates the first topology, unless there must have been one: it was deleted, then, by hand.
Result<> Instance::Impl::begin_cell(Scope& fibers) {
  if (shards.topology()) return fail(ErrorCode::kCorrupt, "topology.json is gone");
  if (auto no_data = require_no_data(env, config.retry, keys::kTopology); !no_data) {
    auto topology = read_topology(env, config.retry);
    MORULA_TRY(topology);
    if (!*topology) return no_data;
    return {};  // another was faster; the next look sees it
  }
  Takeover takeover(env, config.retry, *log);
  auto first = takeover.create_first_topology(config.first_prefix_bits);
  MORULA_TRY(first);
  return serve(fibers, std::move(*first));
}

Result<> Instance::Impl::take_over(Scope& fibers, const IncarnationId& owner, LogSeq hint) {
  env.trace.log(Severity::kInfo, "taking_over", {{"from", owner.text()}});
  auto fence = fence_log(env, self, owner, hint, config.log.window, config.retry);
  MORULA_TRY(fence);
  Takeover takeover(env, config.retry, *log);
  auto adopted = takeover.run(owner, *fence);
  MORULA_TRY(adopted);
  return serve(fibers, std::move(*adopted));
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
    opened.push_back(std::make_shared<Shard>(env, config.shard, *log, lease, cache, table_numbers,
                                             memtables, std::move(shard)));
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

Result<> Instance::Impl::serve(Scope& fibers, std::vector<AdoptedShard> adopted) {
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
  for (const auto& shard : *opened) {
    const bool replayed = shard->manifest().logs.size() > 1;
    shards.serve(shard);
    fibers.spawn("flusher", [shard] { shard->run_flusher(); });
    fibers.spawn("compactor", [shard] { shard->run_compactor(); });
    if (replayed) shard->request_flush();  // frees the dead incarnation's log
    env.trace.log(Severity::kInfo, "serving",
                  {{"shard", shard->prefix().text()}, {"epoch", shard->epoch().value}});
  }
  return {};
}

}  // namespace morula
