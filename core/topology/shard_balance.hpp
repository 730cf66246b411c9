// Which shards move, and where to, so that the instances of a cell have equally many.
#pragma once

#include <string>
#include <vector>

#include "core/topology/served_plan.hpp"
#include "core/topology/topology.hpp"

namespace morula {

/// Moves after which each of `live` has as many shards of `topology` as each other, or one more,
/// in the order of the shards; no moves that do so are fewer (BucketPlan::rebalanced, with a bucket
/// for each shard). None: it is so already. Shards of instances that are not live are left to their
/// takeover. `live`: names, each once. The same for all who see the same.
std::vector<ShardMove> levelling_moves(const Topology& topology,
                                       const std::vector<std::string>& live);

}  // namespace morula
