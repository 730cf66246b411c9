// All scenarios: their names, what each is there to find, and of which parts its worlds are made.
#include "sim/clients/client_workload.hpp"
#include "sim/faults/fault_workload.hpp"
#include "sim/scenario/cell_workload.hpp"
#include "sim/scenario/ghost_workload.hpp"
#include "sim/scenario/memory_workload.hpp"
#include "sim/scenario/operator_workload.hpp"
#include "sim/scenario/plan_workload.hpp"
#include "sim/scenario/prompt_workload.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/scenario/storms.hpp"

namespace morula::sim {

namespace {

std::vector<std::unique_ptr<Workload>> cell_under_faults() {
  std::vector<std::unique_ptr<Workload>> parts;
  parts.push_back(std::make_unique<CellWorkload>());
  parts.push_back(std::make_unique<ClientWorkload>());
  parts.push_back(std::make_unique<OperatorWorkload>());
  parts.push_back(std::make_unique<PromptWorkload>());
  parts.push_back(std::make_unique<GhostWorkload>());
  parts.push_back(std::make_unique<FaultWorkload>());
  parts.push_back(std::make_unique<MemoryWorkload>());
  parts.push_back(std::make_unique<PlanWorkload>());
  return parts;
}

constexpr Scenario kScenarios[] = {
    {"default",
     "any faults on any cell: what the swarm draws, or one of the storms",
     anything,
     cell_under_faults,
     {}},
    {"calm", "no faults: what fails here is no rare case", no_faults, cell_under_faults, {}},
    {"takeover_storm",
     "owners die again and again, in the middle of taking over too",
     takeover_storm,
     cell_under_faults,
     {}},
    {"zombie_storm",
     "owners are stopped for longer than their lease and wake; puts land late",
     zombie_storm,
     cell_under_faults,
     {}},
    {"store_storm",
     "requests to the store are lost, refused, repeated, slow and half done",
     store_storm,
     cell_under_faults,
     {}},
    {"lease_storm",
     "renewals are slow, lost or late, and clocks differ as much as they may",
     lease_storm,
     cell_under_faults,
     {}},
    {"log_storm",
     "a full window with holes in it, flushes and trims right behind, and crashes",
     log_storm,
     cell_under_faults,
     {}},
    {"zombie_writers",
     "owners that can't renew go on writing, flushing and trimming",
     zombie_writers,
     cell_under_faults,
     {}},
    {"many_owners",
     "several instances own shards, and take over while their logs are busy",
     many_owners,
     cell_under_faults,
     {}},
    {"s3_races",
     "a store that tells the loser of a race 500, not 412",
     s3_races,
     cell_under_faults,
     {}},
    {"garbage_storm",
     "tables are merged and collected while they are being read",
     garbage_storm,
     cell_under_faults,
     {}},
    {"memory_storm",
     "little memory and a slow store: writers are slowed down, then refused",
     memory_storm,
     cell_under_faults,
     {}},
    {"disk_storm",
     "the block cache's second tier damages and loses blocks",
     disk_storm,
     cell_under_faults,
     {}},
    {"network_storm",
     "instances and clients can't reach each other, one way or both",
     network_storm,
     cell_under_faults,
     {}},
    {"restart_same_name",
     "instances die and come back at once under their name",
     restart_same_name,
     cell_under_faults,
     {}},
    {"two_standbys",
     "two instances race to take over from the third",
     two_standbys,
     cell_under_faults,
     {}},
    {"rolling_stops",
     "instances are stopped gracefully, one after the other",
     rolling_stops,
     cell_under_faults,
     {}},
    {"deletes_and_creates",
     "few streams, deleted and created again all the time",
     deletes_and_creates,
     cell_under_faults,
     {}},
    {"expiry_storm",
     "streams expire while their owners change and clocks disagree",
     expiry_storm,
     cell_under_faults,
     {}},
    {"split_merge_storm",
     "shards are split, merged and moved while owners die, stall and lose what they sent",
     split_merge_storm,
     cell_under_faults,
     {}},
    {"move_storm",
     "shards are handed from one owner to the next, and back, under any fault",
     move_storm,
     cell_under_faults,
     {}},
    {"split_backlog",
     "memory is short, and shards are divided faster than they are flushed",
     split_backlog,
     cell_under_faults,
     {}},
    {"expiry_takeovers",
     "streams expire while owners die, and their successors' clocks are far behind",
     expiry_takeovers,
     cell_under_faults,
     {}},
    {"slow_handoffs",
     "handoffs that take long, while the receiver writes, flushes and trims",
     slow_handoffs,
     cell_under_faults,
     {}},
    {"topology_crowd",
     "so many changes of the topology at once that most lose their CAS",
     topology_crowd,
     cell_under_faults,
     {}},
    {"lineage_races",
     "changes of one lineage at once, with flush, compaction, collection and takeover",
     lineage_races,
     cell_under_faults,
     {}},
    {"split_quiet",
     "no faults, slow changes of the topology: splits and merges pause nobody",
     split_quiet,
     cell_under_faults,
     {}},
    {"clock_beyond_bound", "clocks differ by more than is promised: stale reads, nothing worse",
     clock_beyond_bound, cell_under_faults, "3"},
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
