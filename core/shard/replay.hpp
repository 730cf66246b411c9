// Replay of the closed log ranges of adopted shards (OWNERSHIP R3e).
#pragma once

#include <span>

#include "core/rt/env.hpp"
#include "core/shard/shard.hpp"

namespace morula {

/// Applies the closed ranges of the shards' manifests, through their clips and exactly to their
/// ends; an object that several shards need is read once. What was replayed into a shard before, of
/// an entry with the same clip and log, is not read again. Suspends.
///
/// (why a shard that was opened ahead counts as outdated when an entry begins elsewhere by then:
/// its owner has flushed in between. What it deleted may have left the tables together with its
/// tombstone, and would come back from the memtable.)
Result<> replay_closed_ranges(const Env& env, const RetryConfig& retry, LogWriter& log,
                              std::span<const std::shared_ptr<Shard>> shards);

}  // namespace morula
