#include "sim/scenario/plan_workload.hpp"

#include "core/store/keys.hpp"
#include "core/topology/bucket_plan_document.hpp"
#include "invariants/bucket_plans.hpp"
#include "sim/scenario/simulation.hpp"

namespace morula::sim {

namespace {

constexpr uint64_t kWorldsPerLook = 8;  // a look takes as long as a twentieth of a world
constexpr Duration kPatience = std::chrono::seconds(10);

bool looks(Simulation& simulation) {
  return simulation.seed() % kWorldsPerLook == 0 && !simulation.hosts().empty();
}

std::optional<Topology> topology_of(Simulation& simulation) {
  const auto& objects = simulation.world().store().objects();
  const auto found = objects.find(std::string(keys::kTopology));
  if (found == objects.end()) return std::nullopt;
  auto topology = decode_topology(*found->second.body);
  if (!topology) return std::nullopt;
  return *std::move(topology);
}

}  // namespace

std::string PlanWorkload::awaited(Simulation& simulation) {
  if (!looks(simulation)) return {};
  if (asking_) return "an instance does not tell its plan";
  const auto topology = topology_of(simulation);
  if (!topology) return "there is no topology";
  for (const std::string& address : simulation.addresses()) {
    const auto plan = decode_bucket_plan(plans_[address]);
    if (plan && plan->version() == topology->version) continue;
    ask(simulation);
    return "no plan of the last topology from " + address;
  }
  return {};
}

void PlanWorkload::ask(Simulation& simulation) {
  asking_ = true;
  ProcessOptions options;
  options.name = "planner-" + std::to_string(++asked_);
  options.machine = 998;
  simulation.world().add(options, [this, &simulation](const Env& env) {
    for (const std::string& address : simulation.addresses()) {
      HttpRequest request;
      request.method = "GET";
      request.target = "/v1/cell/plan";
      auto answer = env.network.call(address, request, env.clock.now() + kPatience);
      if (answer && answer->status == 200) plans_[address] = std::move(answer->body);
    }
    asking_ = false;
  });
}

void PlanWorkload::check(Simulation& simulation) {
  if (!looks(simulation)) return;
  const auto topology = topology_of(simulation);
  for (const auto& [address, text] : plans_) {
    const std::string wrong = invariants::wrong_with_plan(*topology, text);
    if (wrong.empty()) continue;
    std::string what = "the plan of ";
    what.append(address).append(": ").append(wrong);
    return simulation.world().fail("15", what);
  }
}

}  // namespace morula::sim
