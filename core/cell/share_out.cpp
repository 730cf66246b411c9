#include "core/cell/share_out.hpp"

#include <algorithm>

namespace morula {

std::map<Prefix, std::string> share_out(const Topology& topology, const IncarnationId& victim,
                                        const std::set<std::string>& live) {
  std::map<Prefix, std::string> shares;
  std::map<std::string, uint64_t> owned;
  for (const std::string& name : live) owned[name] = 0;
  for (const TopologyShard& row : topology.shards) {
    if (row.owner == victim) continue;
    if (const auto found = owned.find(row.owner.name); found != owned.end()) ++found->second;
  }
  if (owned.empty()) return shares;
  for (const TopologyShard& row : topology.shards) {
    if (row.owner != victim) continue;
    auto fewest = owned.find(victim.name);
    if (fewest == owned.end()) {
      fewest =
          std::ranges::min_element(owned, {}, [](const auto& member) { return member.second; });
    }
    shares[row.prefix] = fewest->first;
    ++fewest->second;
  }
  return shares;
}

}  // namespace morula
