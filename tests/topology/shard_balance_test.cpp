#include "core/topology/shard_balance.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>

#include "tests/topology/topology_of.hpp"

namespace morula {
namespace {

/// "01>b ..."
std::string shown(const std::vector<ShardMove>& moves) {
  std::string text;
  for (const ShardMove& move : moves) {
    text += (text.empty() ? "" : " ") + move.prefix.text() + ">" + move.to;
  }
  return text;
}

TEST(ShardBalance, OnlyTheExcessMoves) {
  const Topology topology =
      topology_of({{"00", "a"}, {"01", "a"}, {"100", "a"}, {"101", "a"}, {"11", "b"}});
  const auto moves = levelling_moves(topology, {"a", "b"});
  ASSERT_EQ(moves.size(), 1u);
  EXPECT_EQ(moves.front().to, "b");
}

TEST(ShardBalance, AnInstanceThatJoinsGetsItsPart) {
  const Topology topology = topology_of({{"00", "a"}, {"01", "a"}, {"10", "b"}, {"11", "b"}});
  const auto moves = levelling_moves(topology, {"a", "b", "c"});
  ASSERT_EQ(moves.size(), 1u);
  EXPECT_EQ(moves.front().to, "c");
}

TEST(ShardBalance, WithFewerShardsThanInstancesNobodyIsRobbed) {
  EXPECT_EQ(shown(levelling_moves(topology_of({{"root", "b"}}), {"a", "b", "c"})), "");
  EXPECT_EQ(shown(levelling_moves(topology_of({{"0", "b"}, {"1", "b"}}), {"a", "b", "c"})).size(),
            3u);
}

TEST(ShardBalance, ShardsOfTheDeadAreLeftToTheirTakeover) {
  const Topology topology = topology_of({{"00", "gone"}, {"01", "gone"}, {"10", "a"}, {"11", "b"}});
  EXPECT_EQ(shown(levelling_moves(topology, {"a", "b"})), "");
  EXPECT_EQ(shown(levelling_moves(topology, {})), "");
}

RC_GTEST_PROP(ShardBalance, LevelsAnyTopologyWithTheFewestMoves, ()) {
  const auto shard_count = static_cast<size_t>(1) << *rc::gen::inRange(0, 6);
  const auto live_count = *rc::gen::inRange<size_t>(1, 9);
  std::vector<std::string> live;
  for (size_t i = 0; i < live_count; ++i)
    live.push_back(std::string(1, static_cast<char>('a' + i)));
  Topology topology;
  topology.version = Version(1);
  uint8_t length = 0;
  while (size_t{1} << length < shard_count) ++length;
  std::map<std::string, size_t> owned;
  for (const std::string& name : live) owned[name] = 0;
  for (size_t i = 0; i < shard_count; ++i) {
    const std::string owner = *rc::gen::elementOf(live);
    topology.shards.push_back(
        {Prefix{static_cast<uint16_t>(i), length}, Epoch(1), {owner, Ulid{1, 2}}, "shards/x", {}});
    ++owned[owner];
  }
  const auto moves = levelling_moves(topology, live);
  size_t excess = 0;
  size_t with_one_more = shard_count % live_count;
  std::vector<size_t> counts;
  for (const auto& [name, count] : owned) counts.push_back(count);
  std::ranges::sort(counts, std::greater());
  for (const size_t count : counts) {
    size_t target = shard_count / live_count;
    if (with_one_more > 0) ++target, --with_one_more;
    if (count > target) excess += count - target;
  }
  RC_ASSERT(moves.size() == excess);
  for (const ShardMove& move : moves) {
    --owned[topology.find(move.prefix)->owner.name];
    ++owned[move.to];
  }
  counts.clear();
  for (const auto& [name, count] : owned) counts.push_back(count);
  RC_ASSERT(std::ranges::max(counts) - std::ranges::min(counts) <= 1);
  RC_ASSERT(shown(moves) == shown(levelling_moves(topology, {live.rbegin(), live.rend()})));
}

}  // namespace
}  // namespace morula
