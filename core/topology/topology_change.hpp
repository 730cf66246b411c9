// One CAS of the topology that replaces shards by others (OWNERSHIP R3c and d, R4 to R6).
//
// The manifests of the shards to come are put first, under fresh keys: until the topology names
// them they are nothing. Then the topology is swapped, on exactly the version that all of it was
// built on.
#pragma once

#include <span>
#include <vector>

#include "core/rt/env.hpp"
#include "core/shard/adopted_shard.hpp"
#include "core/store/conditional.hpp"
#include "core/store/versioned.hpp"
#include "core/topology/topology.hpp"
#include "core/topology/topology_document.hpp"

namespace morula {

class TopologyChange {
 public:
  TopologyChange(const Env& env, const RetryConfig& retry, IncarnationId self)
      : env_(env), retry_(retry), self_(std::move(self)) {}

  /// Puts the manifests of `next` (content only so far, unsealed) under fresh keys built on `base`;
  /// fills in key, version and etag. Several at once. Suspends.
  Result<> put_manifests(std::vector<AdoptedShard>& next, Version base);

  struct Outcome {
    /// The topology named all of `next` at some time. What it says now may be later still.
    bool landed = false;
    Topology now;
  };
  /// Step Publish. Replaces the rows of `replaced` by `next`, which cover the same space. Returns
  /// when the outcome is known. Errors: kCorrupt, when the topology is gone or damaged; kDenied and
  /// the like only while nothing of it can have landed. Suspends; a caller that is cancelled does
  /// not know the outcome.
  Result<Outcome> Publish(const Versioned<Topology>& base, std::span<const Prefix> replaced,
                          const std::vector<AdoptedShard>& next);

 private:
  Topology next_topology(const Topology& topology, std::span<const Prefix> replaced,
                         const std::vector<AdoptedShard>& next) const;

  const Env env_;
  const RetryConfig retry_;
  const IncarnationId self_;
};

/// Whether the topology names each of these with its manifest.
bool names_all(const Topology& topology, const std::vector<AdoptedShard>& shards);

}  // namespace morula
