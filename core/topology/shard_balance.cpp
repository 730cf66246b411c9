#include "core/topology/shard_balance.hpp"

#include <set>

#include "core/base/check.hpp"
#include "core/topology/bucket_plan.hpp"

namespace morula {

std::vector<ShardMove> levelling_moves(const Topology& topology,
                                       const std::vector<std::string>& live) {
  const std::set<std::string> all(live.begin(), live.end());
  std::set<std::string> members;
  std::vector<Prefix> shards;
  std::vector<BucketPlacement> placements;
  for (const TopologyShard& row : topology.shards) {
    if (!all.contains(row.owner.name)) continue;
    members.insert(row.owner.name);
    shards.push_back(row.prefix);
    placements.push_back({row.owner.name, {}});
  }
  // A plan has no more members than buckets: where there are fewer shards than instances, those
  // that have none wait for more.
  for (const std::string& name : all) {
    if (members.size() < shards.size()) members.insert(name);
  }
  if (shards.empty()) return {};
  const std::vector<std::string> names(members.begin(), members.end());
  const auto now = BucketPlan::of(Version(1), names, std::move(placements));
  MORULA_CHECK(now.has_value(), "each shard's owner is a member of the plan");
  const auto next = now->rebalanced(names);
  MORULA_CHECK(next.has_value(), "nobody leaves, and nothing is under way in a plan made afresh");
  std::vector<ShardMove> moves;
  for (const uint64_t bucket : next->migrating_buckets()) {
    moves.push_back({shards[bucket], next->placement_for(bucket).to});
  }
  return moves;
}

}  // namespace morula
