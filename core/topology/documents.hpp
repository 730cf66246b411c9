// Reading and changing the documents of ownership: the topology and manifests.
#pragma once

#include <optional>
#include <string>

#include "core/lsm/manifest.hpp"
#include "core/rt/env.hpp"
#include "core/store/conditional.hpp"
#include "core/topology/topology.hpp"

namespace morula {

/// A document as read: its content and the etag to swap it from.
template <class T>
struct Versioned {
  T content;
  Etag etag;
};

/// nullopt: there is no topology yet. kCorrupt names the object. Suspends.
Result<std::optional<Versioned<Topology>>> read_topology(const Env& env, const RetryConfig& retry);

/// kCorrupt when a manifest is absent: whoever names it says that it exists. Suspends.
Result<Versioned<Manifest>> read_manifest(const Env& env, std::string_view key,
                                          const RetryConfig& retry);

/// The same content under the next version, written by `writer`, with a fresh nonce.
Manifest next_version(const Env& env, Manifest manifest, const IncarnationId& writer);
Topology next_version(const Env& env, Topology topology, const IncarnationId& writer);

}  // namespace morula
