#include "core/topology/trim.hpp"

#include <algorithm>

#include "core/base/mutant.hpp"

namespace morula {

namespace {

// The lowest `from` of an entry for the log of `self` in any manifest that the topology names and
// says to name it.
Result<LogSeq> lowest_named(const Env& env, const RetryConfig& retry, const IncarnationId& self) {
  LogSeq lowest(UINT64_MAX);
  auto topology = read_topology(env, retry);
  MORULA_TRY(topology);
  if (!*topology) return LogSeq(0);
  for (const TopologyShard& row : (*topology)->content.shards) {
    if (!std::binary_search(row.logs.begin(), row.logs.end(), self)) continue;
    auto manifest = read_manifest(env, row.manifest, retry);
    MORULA_TRY(manifest);
    for (const ManifestLog& log : manifest->content.logs) {
      if (log.incarnation == self) lowest = std::min(lowest, log.from);
    }
  }
  return lowest;
}

}  // namespace

// Position and pins come before the topology: read the topology first, be named by another's CAS,
// acknowledge two batches, and the newer position would delete one of them.
Result<> trim_own_log(const Env& env, const RetryConfig& retry, LogWriter& log) {
  LogSeq below = log.acknowledged();
  if (const auto pin = log.lowest_pin()) below = std::min(below, *pin);
  if (below == LogSeq(0) && !mutated(Mutant::trim_reads_topology_first)) return {};

  auto named = lowest_named(env, retry, log.incarnation());
  MORULA_TRY(named);
  if (mutated(Mutant::trim_reads_topology_first)) below = log.acknowledged();
  return log.trim(std::min(below, *named));
}

}  // namespace morula
