// Each step of the protocol is known for what it is, and each way to take it wrongly is told.
#include "invariants/topology_steps.hpp"

#include <gtest/gtest.h>

#include "tests/topology/topology_of.hpp"

namespace morula::invariants {
namespace {

const IncarnationId kA{"a", Ulid{1, 2}};
const IncarnationId kB{"b", Ulid{1, 2}};

Prefix prefix(std::string_view text) {
  return Prefix::parse(text).value();
}

/// Two versions of a topology with their manifests, to be changed by a test before it looks.
class Story {
 public:
  Manifest& manifest(const std::string& key) { return manifests[key]; }

  /// A shard before or after; its manifest names table "t" and the owner's log from 3, for it.
  Manifest& shard(Topology& topology, std::string_view where, const IncarnationId& owner,
                  uint64_t epoch) {
    const bool is_before = &topology == &before;
    const std::string key = std::string(is_before ? "before/" : "after/") + std::string(where);
    topology.shards.push_back({prefix(where), Epoch(epoch), owner, key, {owner}});
    Manifest& named = manifests[key];
    named.sealed = is_before;
    named.tables = {{.key = "t", .clip = prefix(where)}};
    named.logs = {{prefix(where), owner, LogSeq(3), std::nullopt}};
    return named;
  }
  /// What is wrong, in words; empty: nothing.
  std::string told(const IncarnationId& writer) {
    before.version = Version(4);
    after.version = version;
    after.writer = writer;
    Violations violations;
    TopologySteps steps(
        [&](const std::string& key) { return std::make_shared<const Manifest>(manifests.at(key)); },
        violations);
    steps.step(before, after, {});
    taken = steps.taken();
    return violations.empty() ? "" : violations.kept()[0].message;
  }
  std::string step() const { return taken.empty() ? "" : taken.begin()->first; }

  Topology before;
  Topology after;
  Version version{5};
  std::map<std::string, Manifest> manifests;
  std::map<std::string, uint64_t> taken;
};

Story split() {
  Story story;
  story.shard(story.before, "0", kA, 7);
  story.shard(story.after, "00", kA, 8);
  story.shard(story.after, "01", kA, 8);
  return story;
}

Story merge() {
  Story story;
  story.shard(story.before, "00", kA, 6);
  story.shard(story.before, "01", kA, 7);
  Manifest& whole = story.shard(story.after, "0", kA, 8);
  whole.tables = {{.key = "t", .clip = prefix("00")}, {.key = "t", .clip = prefix("01")}};
  whole.logs = {{prefix("00"), kA, LogSeq(3), std::nullopt},
                {prefix("01"), kA, LogSeq(3), std::nullopt}};
  return story;
}

/// From a to b, as `writer` says by whom.
Story transfer() {
  Story story;
  story.shard(story.before, "0", kA, 7);
  Manifest& given = story.shard(story.after, "0", kB, 8);
  given.logs = {{prefix("0"), kA, LogSeq(3), LogSeq(6)},
                {prefix("0"), kB, LogSeq(3), std::nullopt}};
  return story;
}

Story reopen() {
  Story story;
  story.shard(story.before, "0", kA, 7);
  story.shard(story.after, "0", kA, 8);
  return story;
}

TEST(TopologySteps, EachStepIsKnownForWhatItIs) {
  Story story = split();
  EXPECT_EQ(story.told(kA), "");
  EXPECT_EQ(story.step(), "Split");
  story = merge();
  EXPECT_EQ(story.told(kA), "");
  EXPECT_EQ(story.step(), "Merge");
  story = transfer();
  EXPECT_EQ(story.told(kA), "");
  EXPECT_EQ(story.step(), "HandOff");
  EXPECT_EQ(story.told(kB), "");
  EXPECT_EQ(story.step(), "Publish");
  story = reopen();
  EXPECT_EQ(story.told(kA), "");
  EXPECT_EQ(story.step(), "Reopen");
}

/// Changes a right story, and expects to be told so.
void expect_told(Story story, const IncarnationId& writer, std::string_view words,
                 const std::function<void(Story&)>& spoil) {
  spoil(story);
  EXPECT_NE(story.told(writer).find(words), std::string::npos)
      << words << ": " << story.told(writer);
}

TEST(TopologySteps, WhoWritesAndWhichEpochDecideWhetherThereIsSuchAStep) {
  const char* none = "that the protocol does not have";
  expect_told(split(), kB, none, [](Story&) {});
  expect_told(merge(), kB, none, [](Story&) {});
  expect_told(reopen(), kB, none, [](Story&) {});
  expect_told(split(), kA, none, [](Story& s) { s.after.shards[1].epoch = Epoch(7); });
  expect_told(merge(), kA, none, [](Story& s) { s.after.shards[0].epoch = Epoch(7); });
  expect_told(transfer(), kB, none, [](Story& s) { s.after.shards[0].epoch = Epoch(7); });
  expect_told(split(), kA, none, [](Story& s) { s.after.shards[1].owner = kB; });
  expect_told(reopen(), kA, none,
              [](Story& s) { s.after.shards[0].manifest = s.before.shards[0].manifest; });
}

TEST(TopologySteps, OneVersionIsOneStep) {
  expect_told(reopen(), kA, "does not follow version 4", [](Story& s) { s.version = Version(6); });
  expect_told(reopen(), kA, "several steps", [](Story& s) {
    s.shard(s.before, "1", kA, 7);
    s.shard(s.after, "1", kA, 8);
  });
  expect_told(reopen(), kA, "nothing is changed",
              [](Story& s) { s.after.shards = s.before.shards; });
}

TEST(TopologySteps, ATakeoverOfSeveralShardsIsOneStepIfTheyAreOnesOwners) {
  Story story = transfer();
  const auto other = [&](const IncarnationId& owner) {
    story.shard(story.before, "1", owner, 2);
    story.shard(story.after, "1", kB, 3).logs = {{prefix("1"), owner, LogSeq(3), LogSeq(6)},
                                                 {prefix("1"), kB, LogSeq(3), std::nullopt}};
  };
  other(kA);
  EXPECT_EQ(story.told(kB), "");
  story = transfer();
  other({"c", Ulid{1, 2}});
  EXPECT_NE(story.told(kB).find("several steps"), std::string::npos) << story.told(kB);
}

TEST(TopologySteps, WhatComesNamesTheSameRows) {
  expect_told(split(), kA, "forgets table t", [](Story& s) { s.manifest("after/01").tables = {}; });
  expect_told(split(), kA, "forgets log range", [](Story& s) {
    s.manifest("after/01").logs = {{prefix("01"), kA, LogSeq(4), std::nullopt}};
  });
  expect_told(split(), kA, "beyond its shard",
              [](Story& s) { s.manifest("after/01").tables[0].clip = prefix("0"); });
  expect_told(split(), kA, "lowers the mark",
              [](Story& s) { s.manifest("before/0").mark = Generation(2); });
  expect_told(merge(), kA, "names more of table t", [](Story& s) {
    s.manifest("before/01").tables = {};
    s.manifest("after/0").tables = {{.key = "t", .clip = prefix("0")}};
  });
  expect_told(reopen(), kA, "which is sealed",
              [](Story& s) { s.manifest("after/0").sealed = true; });
  expect_told(transfer(), kB, "open in after/0",
              [](Story& s) { s.manifest("after/0").logs[0].to = std::nullopt; });
  expect_told(transfer(), kB, "no log of the owner",
              [](Story& s) { s.manifest("after/0").logs.pop_back(); });
}

}  // namespace
}  // namespace morula::invariants
