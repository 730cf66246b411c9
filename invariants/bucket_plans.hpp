// Invariant 15: a bucket plan that an instance serves says what the topology says, and whoever
// plans on with it moves the excess alone and is not led to somebody who is no member.
//
// What the text says is read here without the plan's own code.
#pragma once

#include <string>
#include <string_view>

#include "core/topology/topology.hpp"

namespace morula::invariants {

/// Of the plan that is served while `topology` is the cell's and nothing changes: what is wrong
/// with it; empty: nothing.
std::string wrong_with_plan(const Topology& topology, std::string_view text);

}  // namespace morula::invariants
