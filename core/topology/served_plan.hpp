// The bucket plan that a topology amounts to: which instance has which bucket, and which buckets
// are on their way to another.
#pragma once

#include <string>
#include <vector>

#include "core/base/prefix.hpp"
#include "core/topology/bucket_plan.hpp"
#include "core/topology/topology.hpp"

namespace morula {

/// A shard is being handed over to the instance `to`.
struct ShardMove {
  Prefix prefix;
  std::string to;
};

/// Under the topology's version, with kBucketsDefault buckets. Its members are `live` and the
/// owners, the dead among them too, until their shards are taken over. Moves may be hearsay: those
/// of no shard of `topology`, and those to somebody who is not live, are left out.
BucketPlan plan_of(const Topology& topology, const std::vector<std::string>& live,
                   const std::vector<ShardMove>& moves);

}  // namespace morula
