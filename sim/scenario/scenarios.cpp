// All scenarios: what each changes of what the swarm has drawn.
#include "sim/clients/client_workload.hpp"
#include "sim/faults/fault_workload.hpp"
#include "sim/scenario/cell_workload.hpp"
#include "sim/scenario/scenario.hpp"

namespace morula::sim {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

std::vector<std::unique_ptr<Workload>> cell_under_faults() {
  std::vector<std::unique_ptr<Workload>> parts;
  parts.push_back(std::make_unique<CellWorkload>());
  parts.push_back(std::make_unique<ClientWorkload>());
  parts.push_back(std::make_unique<FaultWorkload>());
  return parts;
}

void no_faults(Plan& plan, Random& /*random*/) {
  plan.faults = {};
}

constexpr Scenario kScenarios[] = {
    {"default", "any faults on any cell: what the swarm draws", nullptr, cell_under_faults, {}},
    {"calm", "no faults: whatever fails here is no rare case", no_faults, cell_under_faults, {}},
};

}  // namespace

std::span<const Scenario> all_scenarios() {
  return kScenarios;
}

const Scenario* find_scenario(std::string_view name) {
  for (const Scenario& scenario : kScenarios) {
    if (scenario.name == name) return &scenario;
  }
  return nullptr;
}

}  // namespace morula::sim
