// Who takes which shard of a member that is over.
#pragma once

#include <map>
#include <set>
#include <string>

#include "core/base/ids.hpp"
#include "core/base/prefix.hpp"
#include "core/topology/topology.hpp"

namespace morula {

/// For each shard of `victim` the name of the live member that is to take it: each in turn goes to
/// the one that has fewest. If the victim's own name lives again, it gets all of them back: its
/// machine has its caches, and it looks first. The same for all who see the same topology and
/// members; who sees others meets the rest in the topology's CAS.
std::map<Prefix, std::string> share_out(const Topology& topology, const IncarnationId& victim,
                                        const std::set<std::string>& live);

}  // namespace morula
