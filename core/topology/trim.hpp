// Trimming the own log (OWNERSHIP R7): what no manifest needs any more is deleted.
#pragma once

#include "core/log/log_writer.hpp"
#include "core/shard/manifest_document.hpp"
#include "core/topology/topology_document.hpp"

namespace morula {

/// Deletes own log objects below the minimum of: the acknowledged position and the pins, noted
/// first; then every `from` of an entry for this log in the manifests of the topology's rows that
/// list this incarnation, whoever owns them. The entries of the own view are pinned by the shards
/// that serve them. Suspends. Errors leave the log as it is or trimmed in part.
Result<> trim_own_log(const Env& env, const RetryConfig& retry, LogWriter& log);

}  // namespace morula
