// Do the tables of a shard list just the streams that they hold? Flushed meta and flushed index
// name the same streams in every version of a manifest: a flush writes both, and a merge that drops
// a stream leaves it in neither (core/lsm/compaction_merge.hpp). So no log has to be looked at.
#pragma once

#include <optional>
#include <string>

#include "core/lsm/manifest.hpp"
#include "core/rt/env.hpp"

namespace morula {

/// What is wrong, with examples; nullopt: nothing. kNotFound: a table is gone, perhaps merged
/// meanwhile; kCorrupt; the store's errors. Takes 24 bytes of memory for each stream. Suspends.
Result<std::optional<std::string>> check_listing(const Env& env, const Manifest& manifest);

}  // namespace morula
