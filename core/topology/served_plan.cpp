#include "core/topology/served_plan.hpp"

#include <algorithm>
#include <set>

#include "core/base/check.hpp"

namespace morula {

BucketPlan plan_of(const Topology& topology, const std::vector<std::string>& live,
                   const std::vector<ShardMove>& moves) {
  std::set<std::string> members(live.begin(), live.end());
  std::vector<BucketPlacement> placements;
  placements.reserve(BucketPlan::kBucketsDefault);
  for (const TopologyShard& shard : topology.shards) {
    BucketPlacement placement{shard.owner.name, {}};
    for (const ShardMove& move : moves) {
      const bool to_live = std::find(live.begin(), live.end(), move.to) != live.end();
      if (move.prefix == shard.prefix && to_live && move.to != shard.owner.name) {
        placement.to = move.to;
      }
    }
    members.insert(shard.owner.name);
    const uint64_t buckets = BucketPlan::kBucketsDefault >> shard.prefix.length;
    placements.insert(placements.end(), buckets, placement);
  }
  auto plan = BucketPlan::of(std::max(topology.version, Version(1)),
                             {members.begin(), members.end()}, std::move(placements));
  MORULA_CHECK(plan.has_value(), "a topology partitions the space among members with names");
  return *std::move(plan);
}

}  // namespace morula
