// Invariant 18 would hold in a world where nothing happens: here is what the worlds take.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "sim/clients/checks.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/scenario/simulation.hpp"

namespace morula::sim {
namespace {

/// "OwnershipLog.PutLog" and so on.
std::set<std::string> taken(std::string_view scenario, uint64_t seed) {
  Simulation simulation(*find_scenario(scenario), seed);
  Checks checks(simulation.world());
  const SeedReport report = simulation.run();
  EXPECT_TRUE(report.held()) << report.failure->detail;
  std::set<std::string> names;
  for (const auto& [name, times] : *checks.observer().spec_actions()) {
    names.insert(std::string(name.first) + "." + std::string(name.second));
  }
  return names;
}

TEST(SpecActions, AFewWorldsTakeEveryActionThatTheCodeIsHeldTo) {
  std::set<std::string> missing = {
      "Lease.Land",
      "Lease.LandExpire",
      "Lease.LoseLease",
      "Lease.RenewLease",
      "Lease.Stop",
      "OwnershipLog.Accept",
      "OwnershipLog.Collect",
      "OwnershipLog.CollectJudge",
      "OwnershipLog.CollectReadManifests",
      "OwnershipLog.CollectReadTopology",
      "OwnershipLog.Fence",
      "OwnershipLog.Flush",
      "OwnershipLog.HandOff",
      "OwnershipLog.HandSeal",
      "OwnershipLog.LandLog",
      "OwnershipLog.LandManifest",
      "OwnershipLog.LandStopFence",
      "OwnershipLog.PutLog",
      "OwnershipLog.Seal",
      "OwnershipLog.Stop",
      "OwnershipLog.Trim",
      "Topology.Adopt",
      "Topology.Collect",
      "Topology.CollectList",
      "Topology.CollectReadManifests",
      "Topology.CollectReadTopology",
      "Topology.Compact",
      "Topology.Flush",
      "Topology.HandOff",
      "Topology.Merge",
      "Topology.Publish",
      "Topology.Reopen",
      "Topology.Split",
  };
  for (const std::string_view scenario :
       {"split_merge_storm", "topology_crowd", "garbage_storm", "rolling_stops"}) {
    for (uint64_t seed = 0; seed < 6; ++seed) {
      for (const std::string& name : taken(scenario, seed)) missing.erase(name);
    }
  }
  EXPECT_EQ(missing, std::set<std::string>());
}

}  // namespace
}  // namespace morula::sim
