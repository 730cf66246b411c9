#include "core/topology/trim.hpp"

#include <algorithm>

#include "core/base/mutant.hpp"
#include "core/topology/named_manifests.hpp"

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
  const IncarnationId& self = log_.incarnation();
  const auto named =
      read_named_manifests(env_, retry_, Purpose::kTrim, [&](const TopologyShard& row) {
        if (!std::binary_search(row.logs.begin(), row.logs.end(), self)) return false;
        // Of an own shard there is the pin as well; the mutant moves that too early.
        return !(mutated(Mutant::trim_without_cas) && row.owner == self);
      });
  MORULA_TRY(named);
  if (!*named) return Named{LogSeq(0), std::nullopt};
  Named found;
  found.topology = (*named)->topology.version;
  for (const auto& manifest : (*named)->manifests) {
    if (!manifest) continue;
    for (const ManifestLog& log : manifest->logs) {
      if (log.incarnation == self) found.lowest = std::min(found.lowest, log.from);
    }
  }
  return found;
}

}  // namespace morula
