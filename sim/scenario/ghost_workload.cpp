#include "sim/scenario/ghost_workload.hpp"

#include "core/fleet/member.hpp"
#include "core/lsm/manifest.hpp"
#include "core/store/keys.hpp"
#include "core/topology/topology.hpp"
#include "sim/scenario/simulation.hpp"

namespace morula::sim {

namespace {

constexpr WallTime kLongAgo{1'700'000'000'000};

void plant_member(SimStore& store, const IncarnationId& ghost, Random& random) {
  Member member;
  member.version = Version(1);
  member.incarnation = ghost;
  member.state = MemberState::kStopped;
  member.lease = std::chrono::seconds(3);
  member.address = SimNetwork::address_of(ghost.name);
  member.writer = ghost;
  member.nonce = Ulid::draw(kLongAgo, random);
  store.plant(keys::member(ghost.name), encode_member(member));
}

TopologyShard plant_shard(SimStore& store, Prefix prefix, const IncarnationId& ghost,
                          Random& random) {
  Manifest manifest;
  manifest.version = Version(1);
  manifest.logs.push_back({prefix, ghost, LogSeq(0), std::nullopt});
  manifest.writer = ghost;
  manifest.nonce = Ulid::draw(kLongAgo, random);
  TopologyShard row;
  row.prefix = prefix;
  row.epoch = Epoch(1);
  row.owner = ghost;
  row.manifest = keys::manifest(prefix, row.epoch, Version(0), manifest.nonce);
  row.logs = row_logs(manifest, ghost);
  store.plant(row.manifest, encode_manifest(manifest));
  return row;
}

}  // namespace

void GhostWorkload::setup(Simulation& simulation) {
  const uint8_t bits = simulation.plan().ghost_bits;
  if (bits == 0) return;
  SimStore& store = simulation.world().store();
  Random random = simulation.world().random().fork();
  Topology topology;
  topology.version = Version(1);
  for (uint16_t i = 0; i < 1U << bits; ++i) {
    const IncarnationId ghost{"ghost-" + std::to_string(i), Ulid::draw(kLongAgo, random)};
    plant_member(store, ghost, random);
    topology.shards.push_back(plant_shard(store, Prefix{i, bits}, ghost, random));
    topology.writer = ghost;
  }
  topology.nonce = Ulid::draw(kLongAgo, random);
  store.plant(std::string(keys::kTopology), encode_topology(topology));
}

}  // namespace morula::sim
