#include "core/topology/named_manifests.hpp"

#include <gtest/gtest.h>

#include "sim/world/test_world.hpp"
#include "tests/topology/topology_of.hpp"

namespace morula {
namespace {

const IncarnationId kOwner{"a", Ulid{1, 2}};

std::string manifest_with_mark(uint64_t mark) {
  Manifest manifest;
  manifest.writer = kOwner;
  manifest.mark = Generation(mark);
  return encode_manifest(manifest);
}

/// Two shards, whose manifests are at these keys.
std::string topology_naming(const std::string& low, const std::string& high, uint64_t version) {
  Topology topology = topology_of({{"0", "a"}, {"1", "a"}});
  topology.version = Version(version);
  topology.writer = kOwner;
  topology.shards[0].manifest = low;
  topology.shards[1].manifest = high;
  return encode_topology(topology);
}

TEST(NamedManifests, AreThoseOfTheRowsThatAreWanted) {
  sim::TestWorld world;
  world.store().plant("topology.json", topology_naming("shards/l", "shards/h", 5));
  world.store().plant("shards/h", manifest_with_mark(8));
  world.run([&](const Env& env) {
    const auto named = read_named_manifests(env, {}, Purpose::kGc, [](const TopologyShard& row) {
      return row.prefix == Prefix{1, 1};
    });
    ASSERT_TRUE(named && *named);
    EXPECT_EQ((*named)->topology.version, Version(5));
    EXPECT_FALSE((*named)->manifests[0]);
    EXPECT_EQ((*named)->manifests[1]->mark, Generation(8));
  });
}

TEST(NamedManifests, AreReadAgainWhenOneWasReplacedAndCollectedMeanwhile) {
  sim::TestWorld world;
  world.store().plant("topology.json", topology_naming("shards/l", "shards/h", 5));
  for (const char* key : {"shards/l", "shards/h", "shards/next"}) {
    world.store().plant(key, manifest_with_mark(key == std::string("shards/next") ? 9 : 1));
  }
  world.store().set_fates([&](const sim::StoreRequest& request) {
    if (request.key == "shards/h") {
      world.store().plant("topology.json", topology_naming("shards/l", "shards/next", 6));
      world.store().destroy("shards/h");
    }
    return sim::StoreFate();
  });
  world.run([&](const Env& env) {
    const auto named = read_named_manifests(env, {}, Purpose::kGc);
    ASSERT_TRUE(named && *named);
    EXPECT_EQ((*named)->topology.version, Version(6));
    EXPECT_EQ((*named)->manifests[1]->mark, Generation(9));
  });
}

TEST(NamedManifests, OneThatIsNamedAndGoneIsDamage) {
  sim::TestWorld world;
  world.store().plant("topology.json", topology_naming("shards/l", "shards/h", 5));
  world.store().plant("shards/h", manifest_with_mark(1));
  world.run([&](const Env& env) {
    const auto named = read_named_manifests(env, {}, Purpose::kGc);
    ASSERT_FALSE(named);
    EXPECT_EQ(named.error().code, ErrorCode::kCorrupt);
    EXPECT_TRUE(named.error().message.starts_with("shards/l: ")) << named.error().message;
  });
}

TEST(NamedManifests, WithoutATopologyThereAreNone) {
  sim::TestWorld world;
  world.run([&](const Env& env) {
    const auto named = read_named_manifests(env, {}, Purpose::kGc);
    ASSERT_TRUE(named);
    EXPECT_FALSE(*named);
  });
}

}  // namespace
}  // namespace morula
