#include "core/topology/bucket_plan.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/base/mutant.hpp"
#include "core/rt/random.hpp"
#include "core/topology/bucket_plan_document.hpp"
#include "core/topology/served_plan.hpp"
#include "tests/base/damage.hpp"
#include "tests/topology/topology_of.hpp"

namespace morula {
namespace {

using Names = std::vector<std::string>;
using Shrink = BucketPlan::Shrink;

Names names(uint64_t count, uint64_t first = 0) {
  Names made;
  for (uint64_t i = first; i < first + count; ++i) made.push_back("i" + std::to_string(i));
  return made;
}

void shuffle(Names& members, Random& random) {
  for (size_t i = members.size(); i > 1; --i) std::swap(members[i - 1], members[random.below(i)]);
}

/// How many buckets each has once everything is settled.
std::map<std::string, uint64_t> targets(const BucketPlan& plan) {
  std::map<std::string, uint64_t> counts;
  for (const std::string& member : plan.members()) counts[member] = 0;
  const BucketPlan settled = plan.settled_all();
  for (uint64_t i = 0; i < plan.bucket_count(); ++i) ++counts[settled.placement_for(i).member];
  return counts;
}

bool balanced(const BucketPlan& plan, const Names& members) {
  const auto counts = targets(plan);
  uint64_t least = UINT64_MAX;
  uint64_t most = 0;
  uint64_t all = 0;
  for (const std::string& member : members) {
    least = std::min(least, counts.at(member));
    most = std::max(most, counts.at(member));
    all += counts.at(member);
  }
  return most - least <= 1 && all == plan.bucket_count();
}

/// Any plan of `members`, some buckets of which may be migrating.
BucketPlan drawn_plan(const Names& members, uint64_t buckets, bool stable, Random& random) {
  std::vector<BucketPlacement> placements;
  const uint64_t favoured = 1 + random.below(members.size());
  for (uint64_t i = 0; i < buckets; ++i) {
    BucketPlacement placement{members[random.below(favoured)], {}};
    const std::string& to = members[random.below(members.size())];
    if (!stable && random.chance(1, 3) && to != placement.member) placement.to = to;
    placements.push_back(placement);
  }
  return BucketPlan::of(Version(1 + random.below(1000)), members, std::move(placements)).value();
}

/// A balanced plan with a past: members have come and gone.
BucketPlan grown_plan(uint64_t& members, uint64_t buckets, Random& random) {
  BucketPlan plan = BucketPlan::uniform(names(members), buckets).value();
  for (uint64_t step = random.below(6); step > 0; --step) {
    members = random.between(1, std::min<uint64_t>(buckets, 20));
    plan = plan.rebalanced(names(members), Shrink::kAllow).value().settled_all();
  }
  return plan;
}

/// The fewest buckets that must move, by trying who gets the larger shares.
uint64_t fewest_moves(const BucketPlan& plan, const Names& members) {
  std::map<std::string, uint64_t> counts;
  for (uint64_t i = 0; i < plan.bucket_count(); ++i) ++counts[plan.placement_for(i).member];
  const uint64_t share = plan.bucket_count() / members.size();
  const uint64_t larger = plan.bucket_count() % members.size();
  uint64_t fewest = UINT64_MAX;
  for (uint64_t choice = 0; choice < uint64_t{1} << members.size(); ++choice) {
    if (static_cast<uint64_t>(__builtin_popcountll(choice)) != larger) continue;
    uint64_t stay = 0;
    for (size_t i = 0; i < members.size(); ++i) {
      stay += std::min(counts[members[i]], share + (choice >> i & 1));
    }
    fewest = std::min(fewest, plan.bucket_count() - stay);
  }
  return fewest;
}

RC_GTEST_PROP(BucketPlan, OneMemberMoreMovesAtMostItsShare, (uint64_t seed)) {
  Random random(seed);
  const uint64_t buckets = random.chance(1, 3) ? 4096 : random.between(2, 300);
  uint64_t members = random.between(1, std::min<uint64_t>(buckets, 20));
  const BucketPlan plan = grown_plan(members, buckets, random);
  RC_PRE(members < buckets);
  const BucketPlan next = plan.rebalanced(names(members + 1)).value();
  const uint64_t share = (buckets + members) / (members + 1);
  RC_ASSERT(next.migrating_buckets().size() <= share);
  RC_ASSERT(balanced(next, names(members + 1)));
  for (const uint64_t bucket : next.migrating_buckets()) {
    RC_ASSERT(next.placement_for(bucket).to == "i" + std::to_string(members));
  }
}

RC_GTEST_PROP(BucketPlan, RebalancingIsFairAndMovesTheFewestThatItCan, (uint64_t seed)) {
  Random random(seed);
  const uint64_t before = random.between(1, 7);
  const BucketPlan plan = drawn_plan(names(before), random.between(before + 7, 60), true, random);
  const Names after = names(random.between(1, 7), random.below(3));
  const BucketPlan next = plan.rebalanced(after, Shrink::kAllow).value();
  RC_ASSERT(balanced(next, after));
  RC_ASSERT(next.migrating_buckets().size() == fewest_moves(plan, after));
  for (uint64_t i = 0; i < plan.bucket_count(); ++i) {
    RC_ASSERT(next.placement_for(i).member == plan.placement_for(i).member);
  }
  RC_ASSERT(next.settled_all().rebalanced(after).value() == next.settled_all());
  RC_ASSERT(next == plan || next.version() == plan.version() + 1);
}

RC_GTEST_PROP(BucketPlan, IsTheSameWhoeverComputesIt, (uint64_t seed)) {
  Random random(seed);
  const uint64_t count = random.between(1, 12);
  Names before = names(count);
  Names after = names(random.between(1, 12), random.below(5));
  const BucketPlan first = BucketPlan::uniform(before, 500).value();
  const BucketPlan first_next = first.rebalanced(after, Shrink::kAllow).value();
  shuffle(before, random);
  shuffle(after, random);
  const BucketPlan second = BucketPlan::uniform(before, 500).value();
  RC_ASSERT(second == first);
  RC_ASSERT(second.rebalanced(after, Shrink::kAllow).value() == first_next);
}

RC_GTEST_PROP(BucketPlan, SettlingOneByOneInAnyOrderIsSettlingAll, (uint64_t seed)) {
  Random random(seed);
  BucketPlan plan = drawn_plan(names(random.between(2, 6)), random.between(6, 60), false, random);
  const BucketPlan all = plan.settled_all();
  while (!plan.is_stable()) {
    const auto open = plan.migrating_buckets();
    const uint64_t bucket = open[random.below(open.size())];
    const std::string to = plan.placement_for(bucket).to;
    plan = plan.settled(bucket).value();
    RC_ASSERT(plan.placement_for(bucket) == (BucketPlacement{to, {}}));
    RC_ASSERT(plan.migrating_buckets().size() == open.size() - 1);
  }
  RC_ASSERT(plan.members() == all.members());
  for (uint64_t i = 0; i < plan.bucket_count(); ++i) {
    RC_ASSERT(plan.placement_for(i) == all.placement_for(i));
  }
}

RC_GTEST_PROP(BucketPlan, ReadsBackAsItWasWritten, (uint64_t seed)) {
  Random random(seed);
  const uint64_t members = random.between(1, 9);
  const BucketPlan plan = drawn_plan(names(members), members + random.below(90), false, random);
  const auto read = decode_bucket_plan(encode_bucket_plan(plan));
  RC_ASSERT(read.has_value());
  RC_ASSERT(*read == plan);
}

TEST(BucketPlan, DamageIsRefusedOrHarmless) {
  Random random(7);
  expect_damage_is_refused_or_harmless(kBucketPlanFormat,
                                       encode_bucket_plan(drawn_plan(names(3), 12, false, random)),
                                       encode_bucket_plan, decode_bucket_plan);
}

/// Why a plan is refused of which one member is changed before it is sealed again.
std::string refusal(std::string_view member, const Json& value) {
  const BucketPlan plan = BucketPlan::uniform(names(2), 4).value();
  Json json = open_document(kBucketPlanFormat, encode_bucket_plan(plan)).value();
  json.as_object()->insert_or_assign(std::string(member), value);
  const auto read = decode_bucket_plan(encode_document(kBucketPlanFormat, *json.as_object()));
  EXPECT_FALSE(read);
  if (read) return "";
  EXPECT_EQ(read.error().code, ErrorCode::kCorrupt);
  return read.error().message;
}

TEST(BucketPlan, ARefusalNamesTheField) {
  const auto begins = [](const std::string& message, std::string_view field) {
    return message.starts_with(field) ? testing::AssertionSuccess()
                                      : testing::AssertionFailure() << message;
  };
  const auto buckets = [](Json last) {
    return Json(Json::Array{"i0", "i0", "i1", std::move(last)});
  };
  EXPECT_TRUE(begins(refusal("version", uint64_t{0}), "version"));
  EXPECT_TRUE(begins(refusal("version", uint64_t{1} << 53), "version"));
  EXPECT_TRUE(begins(refusal("version", "1"), "version"));
  EXPECT_TRUE(begins(refusal("members", Json::Array{}), "members"));
  EXPECT_TRUE(begins(refusal("members", Json::Array{"i1", "i0"}), "members"));
  EXPECT_TRUE(begins(refusal("members", Json::Array{"i0", "i0", "i1"}), "members"));
  EXPECT_TRUE(begins(refusal("members", Json::Array{"I0", "i0", "i1"}), "members"));
  EXPECT_TRUE(begins(refusal("members", Json::Array{uint64_t{1}}), "members"));
  EXPECT_TRUE(begins(refusal("members", Json::Array{"i0"}), "buckets[2]"));
  EXPECT_TRUE(begins(refusal("buckets", Json::Array{"i0"}), "buckets"));
  EXPECT_TRUE(begins(refusal("buckets", buckets("i2")), "buckets[3]"));
  EXPECT_TRUE(begins(refusal("buckets", buckets("")), "buckets[3]"));
  EXPECT_TRUE(begins(refusal("buckets", buckets(uint64_t{1})), "buckets[3]"));
  const auto migration = [&](Json from, Json to) {
    return buckets(Json::Object{{"from", std::move(from)}, {"to", std::move(to)}});
  };
  EXPECT_TRUE(begins(refusal("buckets", migration("i1", "i2")), "buckets[3]"));
  EXPECT_TRUE(begins(refusal("buckets", migration("i2", "i1")), "buckets[3]"));
  EXPECT_TRUE(begins(refusal("buckets", migration("i1", "i1")), "buckets[3]"));
  EXPECT_TRUE(begins(refusal("buckets", migration("i1", "")), "buckets[3].to"));
  EXPECT_TRUE(begins(refusal("buckets", migration(true, "i1")), "buckets[3].from"));
}

TEST(BucketPlan, HasNeighboursTogetherAndFindsTheBucketOfAStream) {
  const BucketPlan plan = BucketPlan::uniform({"b", "a", "c"}).value();
  EXPECT_EQ(plan.bucket_count(), 4096u);
  EXPECT_EQ(plan.version(), Version(1));
  EXPECT_EQ(plan.members(), (Names{"a", "b", "c"}));
  EXPECT_EQ(plan.placement_for(1365).member, "a");
  EXPECT_EQ(plan.placement_for(1366).member, "b");
  EXPECT_EQ(plan.placement_for(StreamId{UINT64_MAX, 0}).member, "c");
  EXPECT_EQ(plan.bucket_of(StreamId{uint64_t{0xabc} << 52, 0}), 0xabcu);
  EXPECT_TRUE(plan.is_stable());
}

TEST(BucketPlan, RefusesWhatWouldLoseOrOverlapSomething) {
  const BucketPlan plan = BucketPlan::uniform(names(3), 6).value();
  const auto why = [](const Result<BucketPlan>& refused) {
    if (refused) return std::string("not refused");
    EXPECT_EQ(refused.error().code, ErrorCode::kInvalid);
    return refused.error().message;
  };
  EXPECT_NE(why(BucketPlan::uniform({})).find("at least one"), std::string::npos);
  EXPECT_NE(why(BucketPlan::uniform({"a", "a"})).find("twice"), std::string::npos);
  EXPECT_NE(why(BucketPlan::uniform({"A"})).find("a-z"), std::string::npos);
  EXPECT_NE(why(BucketPlan::uniform(names(5), 4)).find("buckets"), std::string::npos);
  EXPECT_NE(why(BucketPlan::uniform(names(5), 65537)).find("65536"), std::string::npos);
  EXPECT_NE(why(plan.rebalanced(names(7))).find("buckets"), std::string::npos);
  EXPECT_NE(why(plan.rebalanced(names(2))).find("i2 has 2 buckets"), std::string::npos);
  EXPECT_NE(why(plan.rebalanced(names(3, 1))).find("i0 has 2 buckets"), std::string::npos);
  EXPECT_NE(why(plan.settled(6)).find("no bucket 6"), std::string::npos);
  const BucketPlan open = plan.rebalanced(names(4)).value();
  EXPECT_NE(why(open.rebalanced(names(4))).find("migrating"), std::string::npos);
  EXPECT_NE(why(open.rebalanced(names(3), Shrink::kAllow)).find("migrating"), std::string::npos);
  EXPECT_EQ(plan.settled(0).value(), plan);
  EXPECT_EQ(plan.settled_all(), plan);
}

TEST(BucketPlan, AMemberThatLeavesStaysUntilItHasNothingMore) {
  const BucketPlan leaving =
      BucketPlan::uniform(names(3), 6).value().rebalanced(names(2), Shrink::kAllow).value();
  EXPECT_EQ(leaving.members(), names(3));
  EXPECT_EQ(leaving.migrating_buckets(), (std::vector<uint64_t>{4, 5}));
  EXPECT_EQ(leaving.settled(4).value().members(), names(3));
  EXPECT_EQ(leaving.settled(4).value().settled(5).value().members(), names(2));
  EXPECT_EQ(leaving.settled_all().members(), names(2));
}

TEST(BucketPlan, OfATopologySaysWhoHasWhatAndWhatIsOnItsWay) {
  const Topology topology = topology_of({{"0", "b"}, {"10", "a"}, {"11", "b"}});
  const ShardMove move{Prefix::parse("10").value(), "c"};
  const BucketPlan plan = plan_of(topology, {"a", "b", "c"}, {move});
  EXPECT_EQ(plan.version(), Version(9));
  EXPECT_EQ(plan.members(), (Names{"a", "b", "c"}));
  EXPECT_EQ(plan.placement_for(2047), (BucketPlacement{"b", {}}));
  EXPECT_EQ(plan.placement_for(2048), (BucketPlacement{"a", "c"}));
  EXPECT_EQ(plan.placement_for(3071), (BucketPlacement{"a", "c"}));
  EXPECT_EQ(plan.placement_for(3072), (BucketPlacement{"b", {}}));
  EXPECT_EQ(plan.migrating_buckets().size(), 1024u);
}

TEST(BucketPlan, OfATopologyLeavesOutHearsayThatCannotBe) {
  const Topology topology = topology_of({{"0", "a"}, {"1", "dead"}});
  const auto prefix = [](std::string_view text) { return Prefix::parse(text).value(); };
  const BucketPlan plan =
      plan_of(topology, {"a"},
              {{prefix("0"), "a"}, {prefix("0"), "dead"}, {prefix("0"), "x"}, {prefix("00"), "a"}});
  EXPECT_TRUE(plan.is_stable());
  EXPECT_EQ(plan.members(), (Names{"a", "dead"}));
  EXPECT_EQ(plan.placement_for(4095).member, "dead");
}

TEST(BucketPlan, ARuleThatIsBrokenOnPurposeIsNoticed) {
  const BucketPlan plan = BucketPlan::uniform(names(3)).value();
  active_mutant = Mutant::plan_moves_too_much;
  EXPECT_GT(plan.rebalanced(names(4)).value().migrating_buckets().size(), 1024u);
  active_mutant = Mutant::plan_allows_dangling_member;
  EXPECT_TRUE(BucketPlan::of(Version(1), {"a"}, {{"b", {}}}));
  active_mutant = Mutant::none;
  EXPECT_EQ(plan.rebalanced(names(4)).value().migrating_buckets().size(), 1024u);
  EXPECT_FALSE(BucketPlan::of(Version(1), {"a"}, {{"b", {}}}));
}

}  // namespace
}  // namespace morula
