#include "core/topology/topology_change.hpp"

#include <algorithm>

#include "core/base/mutant.hpp"
#include "core/rt/concurrently.hpp"
#include "core/rt/trace.hpp"
#include "core/shard/manifest_document.hpp"
#include "core/store/keys.hpp"

namespace morula {

namespace {

constexpr size_t kManifestsAtOnce = 16;

std::vector<IncarnationId> logs_of(const Topology& topology, std::span<const Prefix> prefixes) {
  std::vector<IncarnationId> logs;
  for (const Prefix prefix : prefixes) {
    const TopologyShard* row = topology.find(prefix);
    if (row != nullptr) logs.insert(logs.end(), row->logs.begin(), row->logs.end());
  }
  std::ranges::sort(logs);
  const auto repeated = std::ranges::unique(logs);
  logs.erase(repeated.begin(), repeated.end());
  return logs;
}

}  // namespace

bool names_all(const Topology& topology, const std::vector<AdoptedShard>& shards) {
  return std::ranges::all_of(shards, [&](const AdoptedShard& shard) {
    const TopologyShard* row = topology.find(shard.prefix);
    return row != nullptr && row->owner == shard.owner && row->manifest == shard.manifest_key;
  });
}

Result<> TopologyChange::put_manifests(std::vector<AdoptedShard>& next, Version base) {
  return for_each_concurrently(next.size(), kManifestsAtOnce, [&](size_t i) -> Result<> {
    AdoptedShard& shard = next[i];
    Manifest& manifest = shard.manifest.content;
    manifest = next_version(env_, std::move(manifest), self_);
    shard.manifest_key = keys::manifest(shard.prefix, shard.epoch, base, manifest.nonce);
    auto outcome = create_object(env_, shard.manifest_key, make_blob(encode_manifest(manifest)),
                                 Purpose::kOwnership, retry_);
    MORULA_TRY(outcome);
    // Nothing there: it landed, and was collected because the topology has moved on. The swap will
    // find that, too.
    const bool collected = !outcome->landed && outcome->body == nullptr;
    env_.trace.sometimes("a manifest was collected before its put was answered", collected);
    if (!outcome->landed && !collected) {
      return fail(ErrorCode::kCorrupt, shard.manifest_key + ": a fresh key was taken");
    }
    shard.manifest.etag = std::move(outcome->etag);
    return {};
  });
}

Topology TopologyChange::next_topology(const Topology& topology, std::span<const Prefix> replaced,
                                       const std::vector<AdoptedShard>& next) const {
  Topology changed = next_version(env_, topology, self_);
  std::erase_if(changed.shards, [&](const TopologyShard& row) {
    return std::ranges::find(replaced, row.prefix) != replaced.end();
  });
  for (const AdoptedShard& shard : next) {
    TopologyShard row{shard.prefix, shard.epoch, shard.owner, shard.manifest_key,
                      row_logs(shard.manifest.content, shard.owner)};
    if (mutated(Mutant::logs_carried_over)) row.logs = logs_of(topology, replaced);
    changed.shards.push_back(std::move(row));
  }
  std::ranges::sort(changed.shards, {},
                    [](const TopologyShard& row) { return row.prefix.first(); });
  return changed;
}

// Step Publish
Result<TopologyChange::Outcome> TopologyChange::Publish(const Versioned<Topology>& base,
                                                        std::span<const Prefix> replaced,
                                                        const std::vector<AdoptedShard>& next) {
  Topology changed = next_topology(base.content, replaced, next);
  Blob body = make_blob(encode_topology(changed));
  auto outcome = swap_object(env_, keys::kTopology, body, base.etag, Purpose::kOwnership, retry_);
  MORULA_TRY(outcome);
  if (!outcome->landed && mutated(Mutant::topology_without_cas)) {
    outcome = swap_object(env_, keys::kTopology, body, outcome->etag, Purpose::kOwnership, retry_);
    MORULA_TRY(outcome);
  }
  if (outcome->landed) return Outcome{true, std::move(changed)};
  // It may have landed and have been followed by somebody else's change: what is named counts.
  if (outcome->body == nullptr) return fail(ErrorCode::kCorrupt, "topology.json is gone");
  auto now = decode_topology(*outcome->body);
  MORULA_TRY(now);
  const bool landed = names_all(*now, next);
  return Outcome{landed, *std::move(now)};
}

}  // namespace morula
