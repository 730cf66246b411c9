// Manifests as swapped documents of the bucket.
#pragma once

#include <string_view>

#include "core/lsm/manifest.hpp"
#include "core/rt/env.hpp"
#include "core/store/conditional.hpp"
#include "core/store/versioned.hpp"

namespace morula {

/// kCorrupt, naming the object, when it is damaged or absent: whoever names a manifest says that it
/// exists. Suspends.
Result<Versioned<Manifest>> read_manifest(const Env& env, std::string_view key,
                                          const RetryConfig& retry,
                                          Purpose purpose = Purpose::kOwnership);

/// The same content under the next version, written by `writer`, with a fresh nonce.
Manifest next_version(const Env& env, Manifest manifest, const IncarnationId& writer);

}  // namespace morula
