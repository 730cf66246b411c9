#include "sim/scenario/cell_workload.hpp"

#include "sim/faults/clock_rates.hpp"
#include "sim/scenario/simulation.hpp"

namespace morula::sim {

namespace {

constexpr uint64_t kClockOffsetMaxSeconds = 1'000'000;

}  // namespace

void CellWorkload::setup(Simulation& simulation) {
  const Plan& plan = simulation.plan();
  Random random = simulation.world().random().fork();
  const bool skewed = plan.faults[Fault::clock_rate] > 0;
  for (uint32_t i = 0; i < plan.instances; ++i) {
    ProcessOptions options;
    options.name = plan.instance_name(i);
    options.machine = plan.one_machine ? 0 : i;
    options.clock_offset = std::chrono::seconds(1 + random.below(kClockOffsetMaxSeconds));
    if (skewed) options.clock_rate = draw_clock_rate(random, plan.clock_rate_permille);
    options.wall.ms += static_cast<int64_t>(random.below(plan.wall_error_max_ms + 1));
    InstanceHost& host =
        simulation.hosts().emplace_back(simulation.world(), options, plan.instance, plan.memory);
    if (plan.disk.present) host.give_disk(plan.disk, random.fork());
  }
}

std::string CellWorkload::awaited(Simulation& simulation) {
  for (InstanceHost& host : simulation.hosts()) {
    if (host.ready() || host.retired()) continue;
    // A stop that was under way when healing began has ended by now.
    if (!host.process().alive()) host.revive();
    std::string awaited = "instance " + host.process().name() + " is not ready";
    if (!host.last_error().empty()) awaited += "; its last error: " + host.last_error();
    return awaited;
  }
  return {};
}

}  // namespace morula::sim
