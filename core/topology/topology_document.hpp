// The topology as a swapped document of the bucket.
#pragma once

#include <optional>

#include "core/rt/env.hpp"
#include "core/store/conditional.hpp"
#include "core/store/versioned.hpp"
#include "core/topology/topology.hpp"

namespace morula {

/// nullopt: there is no topology yet. kCorrupt names the object. Suspends.
Result<std::optional<Versioned<Topology>>> read_topology(const Env& env, const RetryConfig& retry,
                                                         Purpose purpose = Purpose::kOwnership);

/// The same content under the next version, written by `writer`, with a fresh nonce.
Topology next_version(const Env& env, Topology topology, const IncarnationId& writer);

}  // namespace morula
