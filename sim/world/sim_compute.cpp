#include "sim/world/sim_compute.hpp"

#include <iterator>

namespace morula::sim {

namespace {

// Mostly short; now and then a large table, or a busy thread pool.
constexpr int64_t kCostUs[] = {20, 20, 30, 40, 50, 60, 80, 100, 150, 200, 300, 500, 800, 2000};

}  // namespace

void SimCompute::run(const std::function<void()>& work) {
  if (life_.over) throw Cancelled{};
  CancellationShield shield;
  bool at_once = random_.chance(1, 2);
  Duration cost = std::chrono::microseconds(kCostUs[random_.below(std::size(kCostUs))]);
  if (at_once) work();
  clock_.sleep(cost);
  if (!at_once) work();
}

}  // namespace morula::sim
