// A named kind of world. `morula-sim scenarios` lists them.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "sim/scenario/plan.hpp"
#include "sim/scenario/workload.hpp"

namespace morula::sim {

struct Scenario {
  std::string_view name;      // snake_case
  std::string_view sentence;  // what it is there to find
  /// Changes what the swarm has drawn; may draw more. Null: nothing.
  void (*shape)(Plan& plan, Random& random) = nullptr;
  /// The parts, in the order of their set-up.
  std::vector<std::unique_ptr<Workload>> (*workloads)() = nullptr;
  /// The rule that this scenario is allowed to break, because it goes beyond what is promised; any
  /// other rule still fails it. Empty: none.
  std::string_view may_break = {};
};

std::span<const Scenario> all_scenarios();
/// Null when there is none of that name.
const Scenario* find_scenario(std::string_view name);

}  // namespace morula::sim
