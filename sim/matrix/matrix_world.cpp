#include "sim/matrix/matrix_world.hpp"

#include <memory>
#include <utility>
#include <vector>

#include "sim/clients/client_workload.hpp"
#include "sim/matrix/probe.hpp"
#include "sim/scenario/cell_workload.hpp"
#include "sim/scenario/memory_workload.hpp"
#include "sim/scenario/operator_workload.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/scenario/storm_parts.hpp"

namespace morula::sim {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Scenario kMatrix{"matrix", "one case of the crash matrix", nullptr, nullptr, {}};

bool needs_a_peer(Operation operation) {
  return operation == Operation::move || operation == Operation::accept ||
         operation == Operation::takeover;
}

bool involves(const MatrixCase& which, Operation operation) {
  return which.operation == operation || (which.blow == Blow::meets && which.meets == operation);
}

/// Everything goes on all the time, but in a race only what is to meet.
void set_background(const MatrixCase& which, InstanceConfig& config) {
  const bool all = which.blow != Blow::meets;
  const bool collects = all || involves(which, Operation::collection);
  const bool compacts = all || collects || involves(which, Operation::compaction);
  const bool trims = all || involves(which, Operation::trim);
  const bool flushes = compacts || trims || involves(which, Operation::flush);
  config.shard.unflushed_bytes_max = flushes ? 8000 : kMiB;
  config.shard.held_log_objects_max = flushes ? 25 : 500;
  CompactionConfig& compaction = config.shard.compaction;
  compaction.stack_tables = compacts ? 2 : 100;
  compaction.bottom_stack_tables = compacts ? 2 : 100;
  compaction.bottom_stack_bytes = 20'000;
  compaction.table_bytes = 10'000;
  compaction.window_bytes = 8000;
  config.trim_interval = trims ? milliseconds(700) : Duration(std::chrono::hours(1));
  config.collect_interval = collects ? milliseconds(900) : Duration(std::chrono::hours(1));
}

}  // namespace

MatrixCell cell_of(const MatrixCase& which) {
  const bool by_itself = which.ending == Ending::same && !pauses(which.blow);
  if (!by_itself) return MatrixCell::apart;
  return needs_a_peer(which.operation) ? MatrixCell::one_machine : MatrixCell::alone;
}

Plan plan_of(const MatrixCase& which) {
  const MatrixCell cell = cell_of(which);
  Plan plan;
  plan.instances = cell == MatrixCell::alone ? 1 : 3;
  plan.one_machine = cell == MatrixCell::one_machine;
  plan.clients = 3;
  plan.streams = 3;
  plan.client_pause = milliseconds(60);
  plan.wall_error_max_ms = 20;
  plan.operators.watched = true;
  plan.active = seconds(30);  // at most
  plan.settle_max = seconds(120);
  plan.store_speed = 1;
  plan.manners.etag_is_content = true;
  set_lease(plan, seconds(2));
  set_attempts(plan, milliseconds(500));
  InstanceConfig& config = plan.instance;
  config.log.window = 4;
  config.log.flush_interval = milliseconds(10);
  config.log.puts_at_once = 2;
  config.block_cache_bytes = kMiB;
  config.forward_timeout = seconds(3);
  config.stop_grace = milliseconds(500);
  const bool halves = involves(which, Operation::merge) || involves(which, Operation::takeover);
  config.first_prefix_bits = halves ? 1 : 0;
  set_background(which, config);
  return plan;
}

MatrixReport run_matrix_case(const MatrixCase& which, uint64_t seed,
                             const SimTrace::LineSink& lines, bool detail) {
  auto owned = std::make_unique<Probe>(which);
  Probe& probe = *owned;
  std::vector<std::unique_ptr<Workload>> parts;
  parts.push_back(std::make_unique<CellWorkload>());
  parts.push_back(std::move(owned));
  parts.push_back(std::make_unique<ClientWorkload>());
  parts.push_back(std::make_unique<OperatorWorkload>());
  parts.push_back(std::make_unique<MemoryWorkload>());
  Simulation simulation(kMatrix, seed, plan_of(which), std::move(parts));
  if (lines) simulation.world().trace().set_line_sink(lines, detail);
  MatrixReport report;
  report.seed = simulation.run();
  report.requests = probe.requests();
  report.switches = probe.switches();
  report.ended = probe.ended();
  report.struck = probe.struck();
  report.met = probe.met();
  return report;
}

}  // namespace morula::sim
