#include "core/topology/trim.hpp"

#include <algorithm>

#include "core/base/mutant.hpp"
#include "core/shard/manifest_document.hpp"
#include "core/topology/topology_document.hpp"

namespace morula {

// Position and pins come before the topology: read the topology first, be named by another's CAS,
// acknowledge two batches, and the newer position would delete one of them.
Result<std::optional<Version>> Trimmer::run(bool must_look) {
  LogSeq below = log_.acknowledged();
  if (const auto pin = log_.lowest_pin()) below = std::min(below, *pin);
  const bool idle = below == LogSeq(0) || below == done_below_;
  if (idle && !must_look && !mutated(Mutant::trim_reads_topology_first)) return std::nullopt;

  auto named = read_named();
  MORULA_TRY(named);
  if (mutated(Mutant::trim_reads_topology_first)) below = log_.acknowledged();
  MORULA_TRY(log_.trim(std::min(below, named->lowest)));
  if (named->lowest >= below) done_below_ = below;
  return named->topology;
}

// The lowest `from` of an entry for the own log in any manifest that the topology names and says to
// name it.
Result<Trimmer::Named> Trimmer::read_named() {
  Named named;
  auto topology = read_topology(env_, retry_, Purpose::kTrim);
  MORULA_TRY(topology);
  if (!*topology) return Named{LogSeq(0), std::nullopt};
  named.topology = (*topology)->content.version;
  const IncarnationId& self = log_.incarnation();
  for (const TopologyShard& row : (*topology)->content.shards) {
    if (!std::binary_search(row.logs.begin(), row.logs.end(), self)) continue;
    // Of an own shard there is the pin as well; the mutant moves that too early.
    if (mutated(Mutant::trim_without_cas) && row.owner == self) continue;
    auto manifest = read_manifest(env_, row.manifest, retry_, Purpose::kTrim);
    MORULA_TRY(manifest);
    for (const ManifestLog& log : manifest->content.logs) {
      if (log.incarnation == self) named.lowest = std::min(named.lowest, log.from);
    }
  }
  return named;
}

}  // namespace morula
