#include "sim/scenario/memory_workload.hpp"

#include "sim/scenario/simulation.hpp"

namespace morula::sim {

namespace {

// Requests whose clients have long gone may go on for as long as a call's patience.
constexpr int kLooksMax = 1000;

std::string trouble(Simulation& simulation) {
  for (const InstanceHost& host : simulation.hosts()) {
    const std::string wrong = host.memory_trouble();
    if (!wrong.empty()) return host.name() + ": " + wrong;
  }
  return {};
}

}  // namespace

std::string MemoryWorkload::awaited(Simulation& simulation) {
  return ++looks_ < kLooksMax ? trouble(simulation) : std::string();
}

void MemoryWorkload::check(Simulation& simulation) {
  const std::string wrong = trouble(simulation);
  if (!wrong.empty()) simulation.world().fail("11", wrong);
}

}  // namespace morula::sim
