// What the topology names, as of one version of it.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "core/lsm/manifest.hpp"
#include "core/rt/env.hpp"
#include "core/store/conditional.hpp"
#include "core/topology/topology.hpp"

namespace morula {

struct NamedManifests {
  Topology topology;
  /// By row of the topology; nullopt: it was not wanted.
  std::vector<std::optional<Manifest>> manifests;
};

/// Reads the topology, then the manifests that it names (those of the rows that `wants`; null:
/// all), several at once. A manifest that has been collected meanwhile was replaced: all is read
/// again. nullopt: there is no topology. kCorrupt: damage, or a manifest that is named is gone.
/// Suspends.
Result<std::optional<NamedManifests>> read_named_manifests(
    const Env& env, const RetryConfig& retry, Purpose purpose,
    const std::function<bool(const TopologyShard&)>& wants = nullptr);

}  // namespace morula
