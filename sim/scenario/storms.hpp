// What kinds of world change of the plan that the swarm has drawn. Each says in scenarios.cpp what
// it is there to find.
#pragma once

#include "core/rt/random.hpp"
#include "sim/scenario/plan.hpp"

namespace morula::sim {

void no_faults(Plan& plan, Random& random);
void takeover_storm(Plan& plan, Random& random);
void zombie_storm(Plan& plan, Random& random);
void store_storm(Plan& plan, Random& random);
void lease_storm(Plan& plan, Random& random);
void zombie_writers(Plan& plan, Random& random);
void many_owners(Plan& plan, Random& random);
void garbage_storm(Plan& plan, Random& random);
void disk_storm(Plan& plan, Random& random);
void log_storm(Plan& plan, Random& random);
void s3_races(Plan& plan, Random& random);
void memory_storm(Plan& plan, Random& random);
void network_storm(Plan& plan, Random& random);
void restart_same_name(Plan& plan, Random& random);
void two_standbys(Plan& plan, Random& random);
void rolling_stops(Plan& plan, Random& random);
void deletes_and_creates(Plan& plan, Random& random);
void expiry_storm(Plan& plan, Random& random);
void split_merge_storm(Plan& plan, Random& random);
void move_storm(Plan& plan, Random& random);
void expiry_takeovers(Plan& plan, Random& random);
void slow_handoffs(Plan& plan, Random& random);
void topology_crowd(Plan& plan, Random& random);
void lineage_races(Plan& plan, Random& random);
void split_backlog(Plan& plan, Random& random);
void split_quiet(Plan& plan, Random& random);
void clock_beyond_bound(Plan& plan, Random& random);
void anything(Plan& plan, Random& random);

}  // namespace morula::sim
