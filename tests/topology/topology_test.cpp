#include "core/topology/topology.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/rt/random.hpp"
#include "tests/base/damage.hpp"

namespace morula {
namespace {

IncarnationId draw(std::string name, uint64_t seed) {
  Random random(seed);
  return {std::move(name), Ulid::draw(WallTime{1000}, random)};
}

Topology with_prefixes(const std::vector<Prefix>& prefixes) {
  Topology topology;
  topology.version = Version(5);
  topology.writer = draw("a", 1);
  for (const Prefix prefix : prefixes) {
    topology.shards.push_back({prefix, Epoch(2), draw("a", 1), "shards/x", {draw("a", 1)}});
  }
  return topology;
}

/// Splits random leaves of the one-shard space.
std::vector<Prefix> random_partition(uint64_t seed, int splits) {
  Random random(seed);
  std::vector<Prefix> leaves{{0, 0}};
  for (int i = 0; i < splits; ++i) {
    const size_t at = random.below(leaves.size());
    const Prefix leaf = leaves[at];
    if (leaf.length == Prefix::kMaxLength) continue;
    const auto length = static_cast<uint8_t>(leaf.length + 1);
    leaves[at] = {static_cast<uint16_t>(leaf.bits << 1), length};
    leaves.insert(leaves.begin() + static_cast<ptrdiff_t>(at) + 1,
                  {static_cast<uint16_t>(leaf.bits << 1 | 1), length});
  }
  return leaves;
}

RC_GTEST_PROP(Topology, ReadsBackAnyPartitionAndFindsEveryStreamInOneShard, (uint64_t seed)) {
  const int splits = static_cast<int>(*rc::gen::inRange(0, 30));
  const Topology topology = with_prefixes(random_partition(seed, splits));
  const auto read = decode_topology(encode_topology(topology));
  RC_ASSERT(read.has_value());
  RC_ASSERT(encode_topology(*read) == encode_topology(topology));
  Random random(seed);
  for (int i = 0; i < 20; ++i) {
    const StreamId id{random.next(), random.next()};
    int holders = 0;
    for (const TopologyShard& shard : read->shards) holders += shard.prefix.contains(id) ? 1 : 0;
    RC_ASSERT(holders == 1);
    RC_ASSERT(read->shard_of(id).prefix.contains(id));
  }
}

RC_GTEST_PROP(Topology, IsRefusedWithAShardMissingOrTwice, (uint64_t seed)) {
  const int splits = static_cast<int>(*rc::gen::inRange(1, 30));
  std::vector<Prefix> prefixes = random_partition(seed, splits);
  const auto at = *rc::gen::inRange<size_t>(0, prefixes.size());
  if (*rc::gen::arbitrary<bool>()) {
    prefixes.erase(prefixes.begin() + static_cast<ptrdiff_t>(at));
  } else {
    prefixes.insert(prefixes.begin() + static_cast<ptrdiff_t>(at), prefixes[at]);
  }
  const auto read = decode_topology(encode_topology(with_prefixes(prefixes)));
  RC_ASSERT(!read.has_value());
  RC_ASSERT(read.error().message.find("partition") != std::string::npos);
}

TEST(Topology, DamageIsRefusedOrHarmless) {
  expect_damage_is_refused_or_harmless({"morula-topology", 1},
                                       encode_topology(with_prefixes(random_partition(3, 3))),
                                       encode_topology, decode_topology);
}

TEST(Topology, ListsTheManifestsIncarnationsAndTheOwnerOnce) {
  Manifest manifest;
  manifest.logs = {{{}, draw("b", 2), LogSeq(0), LogSeq(4)}, {{}, draw("a", 1), LogSeq(0), {}}};
  EXPECT_EQ(row_logs(manifest, draw("a", 1)),
            (std::vector<IncarnationId>{draw("a", 1), draw("b", 2)}));
}

RC_GTEST_PROP(Topology, EveryStreamAndEveryShardIsFoundWhereItIs, ()) {
  Topology topology;
  topology.shards = {{}};
  const auto splits = *rc::gen::inRange(0, 20);
  for (int i = 0; i < splits; ++i) {
    const auto at = *rc::gen::inRange<size_t>(0, topology.shards.size());
    const Prefix prefix = topology.shards[at].prefix;
    if (prefix.length == Prefix::kMaxLength) continue;
    topology.shards[at].prefix = prefix.child(false);
    TopologyShard high;
    high.prefix = prefix.child(true);
    topology.shards.insert(topology.shards.begin() + static_cast<ptrdiff_t>(at) + 1, high);
  }
  const StreamId id{*rc::gen::arbitrary<uint64_t>(), *rc::gen::arbitrary<uint64_t>()};
  RC_ASSERT(topology.shard_of(id).prefix.contains(id));
  for (const TopologyShard& shard : topology.shards) {
    RC_ASSERT(topology.find(shard.prefix) == &shard);
    RC_ASSERT(&topology.shard_of(shard.prefix.first()) == &shard);
    RC_ASSERT(&topology.shard_of(shard.prefix.last()) == &shard);
    if (shard.prefix.length > 0) RC_ASSERT(topology.find(shard.prefix.parent()) == nullptr);
  }
  RC_ASSERT(Topology{}.find(Prefix{}) == nullptr);
}

}  // namespace
}  // namespace morula
