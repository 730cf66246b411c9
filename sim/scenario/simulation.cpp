#include "sim/scenario/simulation.hpp"

#include <algorithm>

#include "sim/scenario/scenario.hpp"

namespace morula::sim {

namespace {

// Different scenarios must not replay each other's draws.
uint64_t world_seed(std::string_view scenario, uint64_t seed) {
  return checksum(scenario) ^ (seed * 0x9e3779b97f4a7c15ULL);
}

constexpr Duration kSettlePoll = std::chrono::milliseconds(200);

}  // namespace

Simulation::Simulation(const Scenario& scenario, uint64_t seed)
    : scenario_(scenario),
      seed_(seed),
      world_(std::make_unique<World>(world_seed(scenario.name, seed))) {
  Random random = world_->random().fork();
  plan_ = draw_plan(random);
  if (scenario.shape != nullptr) scenario.shape(plan_, random);
  workloads_ = scenario.workloads();
  begin();
}

Simulation::Simulation(const Scenario& scenario, uint64_t seed, Plan plan,
                       std::vector<std::unique_ptr<Workload>> workloads)
    : scenario_(scenario),
      seed_(seed),
      world_(std::make_unique<World>(world_seed(scenario.name, seed))),
      plan_(std::move(plan)),
      workloads_(std::move(workloads)) {
  begin();
}

void Simulation::begin() {
  fault_steps_.emplace(*world_);
  world_->store().set_manners(plan_.manners);
  for (uint32_t i = 0; i < plan_.instances; ++i) {
    addresses_.push_back(SimNetwork::address_of(plan_.instance_name(i)));
  }
}

Simulation::~Simulation() {
  // Its fibers and events refer to the workloads, which refer to the world.
  world_->end();
  workloads_.clear();
}

SeedReport Simulation::run() {
  if (world_->trace().wants_lines()) world_->trace().line("world", describe(plan_));
  for (const auto& workload : workloads_) workload->setup(*this);
  const TrueTime until = world_->now() + plan_.active;
  world_->run_until_true([this] { return enough_; }, until);
  if (!enough_) world_->run_until(until);
  if (world_->failure()) return report();
  active_ = false;
  world_->trace().line("world", "healing");
  for (const auto& workload : workloads_) workload->heal(*this);
  settle();
  for (const auto& workload : workloads_) {
    if (!world_->failure()) workload->check(*this);
  }
  return report();
}

void Simulation::settle() {
  const TrueTime limit = world_->now() + plan_.settle_max;
  while (!world_->failure()) {
    std::string awaited;
    for (const auto& workload : workloads_) {
      awaited = workload->awaited(*this);
      if (!awaited.empty()) break;
    }
    if (awaited.empty()) return;
    if (world_->now() >= limit) return world_->fail("8", "long after healing: " + awaited);
    world_->run_for(kSettlePoll);
  }
}

SeedReport Simulation::report() const {
  SeedReport report;
  report.scenario = scenario_.name;
  report.seed = seed_;
  report.failure = world_->failure();
  report.failure_is_expected =
      report.failure && !scenario_.may_break.empty() && report.failure->rule == scenario_.may_break;
  report.hash = world_->trace().hash().value();
  report.virtual_time = world_->now().time_since_epoch();
  for (const auto& workload : workloads_) report.operations += workload->operations();
  report.switches = world_->switches();
  report.store_requests = world_->store().sent();
  report.purposes = world_->store().purposes();
  report.calls = world_->network().calls();
  report.faults = counts_;
  report.steps = world_->trace().steps();
  report.pairs = fault_steps_->pairs();
  report.places = world_->trace().places();
  return report;
}

}  // namespace morula::sim
