// Replay of the closed log ranges of adopted shards (OWNERSHIP R3e).
#pragma once

#include <span>

#include "core/rt/env.hpp"
#include "core/shard/shard.hpp"

namespace morula {

/// Applies the closed ranges of the shards' manifests, through their clips and exactly to their
/// ends; an object that several shards need is read once. Suspends.
Result<> replay_closed_ranges(const Env& env, const RetryConfig& retry, LogWriter& log,
                              std::span<const std::shared_ptr<Shard>> shards);

}  // namespace morula
