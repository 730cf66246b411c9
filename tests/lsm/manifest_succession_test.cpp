// The manifests that follow a sealed one name what it named, no more and no less.
#include "core/lsm/manifest_succession.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <set>
#include <string>

namespace morula {
namespace {

const IncarnationId kOwner{"a", Ulid{1, 1}};
const IncarnationId kOther{"b", Ulid{1, 2}};

Prefix prefix(std::string_view text) {
  return Prefix::parse(text).value();
}

ManifestTable table(const std::string& key, std::string_view clip) {
  return {.key = key, .tree = Tree::kIndex, .clip = prefix(clip), .bytes = 1};
}

ManifestLog log(std::string_view clip, const IncarnationId& incarnation, uint64_t from,
                std::optional<LogSeq> to = std::nullopt) {
  return {prefix(clip), incarnation, LogSeq(from), to};
}

/// By name the parts of the hash space, in its smallest pieces, for which it is named.
using Named = std::map<std::string, std::set<uint64_t>>;

void add(Named& named, const std::string& name, Prefix clip) {
  const uint64_t width = uint64_t{1} << (Prefix::kMaxLength - clip.length);
  for (uint64_t i = 0; i < width; ++i) named[name].insert(clip.bits * width + i);
}

Named named_by(const Manifest& manifest) {
  Named named;
  for (const ManifestTable& entry : manifest.tables) add(named, entry.key, entry.clip);
  for (const ManifestLog& entry : manifest.logs) {
    add(named, entry.incarnation.text() + std::to_string(entry.from.value), entry.clip);
  }
  return named;
}

Named both(Named a, const Named& b) {
  for (const auto& [name, parts] : b) a[name].insert(parts.begin(), parts.end());
  return a;
}

/// A shard's manifest with entries of whatever clips lie in it.
Manifest any_manifest(Prefix shard) {
  Manifest manifest;
  const auto clip = [&] {
    Prefix drawn = shard;
    const auto bits = *rc::gen::inRange(0, 4);
    for (int i = 0; i < bits; ++i) drawn = drawn.child(*rc::gen::arbitrary<bool>());
    return drawn;
  };
  const auto tables = *rc::gen::inRange(0, 5);
  for (int i = 0; i < tables; ++i) {
    manifest.tables.push_back({.key = "t" + std::to_string(*rc::gen::inRange(0, 3)),
                               .tree = Tree::kIndex,
                               .clip = clip()});
  }
  const auto logs = *rc::gen::inRange<uint64_t>(0, 4);
  for (uint64_t i = 0; i < logs; ++i) {
    manifest.logs.push_back({clip(), kOther, LogSeq(i), LogSeq(i + 1)});
  }
  manifest.logs.push_back({shard, kOwner, LogSeq(7), std::nullopt});
  manifest.mark = Generation(*rc::gen::inRange<uint64_t>(0, 9));
  manifest.sealed = true;
  return manifest;
}

RC_GTEST_PROP(ManifestSuccession, HalvesNameTogetherWhatTheWholeNamed, ()) {
  const Manifest whole = any_manifest(prefix("01"));
  const Manifest low = narrowed(whole, prefix("010"));
  const Manifest high = narrowed(whole, prefix("011"));
  RC_ASSERT(both(named_by(low), named_by(high)) == named_by(whole));
  for (const ManifestTable& entry : low.tables) RC_ASSERT(prefix("010").contains(entry.clip));
  for (const ManifestLog& entry : high.logs) RC_ASSERT(prefix("011").contains(entry.clip));
  RC_ASSERT(!low.sealed);
  RC_ASSERT(low.mark == whole.mark);
}

RC_GTEST_PROP(ManifestSuccession, AWholeNamesWhatItsHalvesNamed, ()) {
  const Manifest low = any_manifest(prefix("010"));
  const Manifest high = any_manifest(prefix("011"));
  const Manifest whole = merged(low, high);
  RC_ASSERT(named_by(whole) == both(named_by(low), named_by(high)));
  RC_ASSERT(whole.mark == std::max(low.mark, high.mark));
  RC_ASSERT(!whole.sealed);
}

RC_GTEST_PROP(ManifestSuccession, WhatWasSplitAndMergedIsAsItWas, ()) {
  const Manifest whole = any_manifest(prefix("01"));
  const Manifest again = merged(narrowed(whole, prefix("010")), narrowed(whole, prefix("011")));
  RC_ASSERT(named_by(again) == named_by(whole));
  RC_ASSERT(again.tables.size() <= whole.tables.size());
}

TEST(ManifestSuccession, ATableWhoseStreamsAllLieElsewhereStaysOut) {
  Manifest whole;
  ManifestTable of_low = table("low", "root");
  of_low.tree = Tree::kData;
  of_low.streams = KeyRange(prefix("00").first(), prefix("00").last());
  whole.tables = {of_low, table("index", "root")};
  EXPECT_EQ(narrowed(whole, prefix("0")).tables.size(), 2u);
  ASSERT_EQ(narrowed(whole, prefix("1")).tables.size(), 1u);
  EXPECT_EQ(narrowed(whole, prefix("1")).tables[0].key, "index");
}

TEST(ManifestSuccession, OnlyHalvesOfOneTableAreJoined) {
  Manifest low;
  low.tables = {table("both", "0"), table("low", "0"), table("part", "00")};
  Manifest high;
  high.tables = {table("both", "1"), table("high", "1"), table("part", "1")};
  std::map<std::string, std::vector<std::string>> clips;
  for (const ManifestTable& entry : merged(low, high).tables) {
    clips[entry.key].push_back(entry.clip.text());
  }
  EXPECT_EQ(clips["both"], std::vector<std::string>{"root"});
  EXPECT_EQ(clips["low"], std::vector<std::string>{"0"});
  EXPECT_EQ(clips["high"], std::vector<std::string>{"1"});
  EXPECT_EQ(clips["part"], (std::vector<std::string>{"00", "1"}));
}

TEST(ManifestSuccession, AHandoverClosesWhatTheLastOwnerHadOpenAndNothingElse) {
  Manifest sealed;
  sealed.sealed = true;
  sealed.logs = {log("0", kOther, 2, LogSeq(5)), log("0", kOwner, 3), log("0", kOwner, 9)};
  const IncarnationId next{"c", Ulid{1, 3}};
  const Manifest given = handed_over(sealed, prefix("0"), kOwner, LogSeq(8), next, LogSeq(4));
  EXPECT_FALSE(given.sealed);
  EXPECT_EQ(given.logs, (std::vector{log("0", kOther, 2, LogSeq(5)), log("0", kOwner, 3, LogSeq(8)),
                                     log("0", next, 4)}))
      << "an entry that begins behind the end is empty, and goes";
  EXPECT_EQ(open_from(given, next), LogSeq(4));
  EXPECT_EQ(open_from(given, kOwner), std::nullopt);
  EXPECT_EQ(open_from(sealed, kOwner), LogSeq(3));
}

}  // namespace
}  // namespace morula
