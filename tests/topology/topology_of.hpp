// Topologies for tests of what is made of them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/topology/topology.hpp"

namespace morula {

/// Version 9, with these shards: prefix and owner's name.
inline Topology topology_of(const std::vector<std::pair<std::string, std::string>>& shards) {
  Topology topology;
  topology.version = Version(9);
  for (const auto& [prefix, owner] : shards) {
    topology.shards.push_back(
        {Prefix::parse(prefix).value(), Epoch(1), {owner, Ulid{1, 2}}, "shards/x", {}});
  }
  return topology;
}

}  // namespace morula
