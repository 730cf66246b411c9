// Invariants 4 and 6, and the rules of ownership that are checked beside them.
#include <gtest/gtest.h>

#include "tests/invariants/fake_cell.hpp"
#include "tests/invariants/story.hpp"

namespace morula::invariants {
namespace {

using Words = std::vector<std::string>;

std::string found(const FakeCell& cell, Invariant invariant, const Words& words) {
  return mismatch(cell.observer.verdict(), invariant, words);
}

TEST(BucketChecks, AnOrdinaryTakeoverBreaksNothing) {
  FakeCell cell;
  for (uint64_t seq = 0; seq < 3; ++seq) {
    cell.appends(cell.a, seq);
    cell.batch(cell.a, seq);
    cell.acknowledges(cell.a, seq + 1);
  }
  cell.appends(cell.a, 3);
  cell.batch(cell.a, 3);  // landed, but not acknowledged yet
  cell.member(cell.a, MemberState::kExpired);
  cell.step(Step::kExpire, cell.b, cell.a.text());
  cell.fence(cell.a, 4, cell.b);
  cell.fences(cell.b, cell.a, 4);
  cell.manifest.logs = {{Prefix{}, cell.a, LogSeq(0), std::nullopt}};
  cell.seal_and_copy();
  cell.manifest.logs = {{Prefix{}, cell.a, LogSeq(0), LogSeq(4)},
                        {Prefix{}, cell.b, LogSeq(0), std::nullopt}};
  cell.put_manifest();
  cell.publish(cell.b);
  cell.appends(cell.b, 0);
  cell.batch(cell.b, 0);
  cell.acknowledges(cell.b, 1);
  // b flushes what it has read; only now the zombie hears that its last batch has landed.
  cell.manifest.logs = {{Prefix{}, cell.b, LogSeq(1), std::nullopt}};
  cell.put_manifest();
  cell.acknowledges(cell.a, 4);
  cell.step(Step::kFenced, cell.a, {}, 4);
  cell.observer.finish();
  EXPECT_EQ(cell.observer.verdict().count(), 0u) << to_string(cell.observer.verdict().kept()[0]);
}

TEST(BucketChecks, ALogIsCollectedOnlyBehindAFenceAndThenItsZombieMayMissIt) {
  FakeCell cell;
  cell.member(cell.a, MemberState::kExpired);
  cell.batch(cell.b, 0);
  cell.remove(keys::log_object(cell.b, LogSeq(0)), Purpose::kGc);
  EXPECT_EQ(found(cell, Invariant::kOwnershipRule, {"was collected", "no fence", "R8"}), "");

  FakeCell fenced;
  fenced.appends(fenced.a, 0);
  fenced.batch(fenced.a, 0);
  fenced.seal_and_copy();
  fenced.member(fenced.a, MemberState::kExpired);
  fenced.fence(fenced.a, 1, fenced.b);
  fenced.fences(fenced.b, fenced.a, 1);
  fenced.manifest.logs = {{Prefix{}, fenced.b, LogSeq(0), std::nullopt}};
  fenced.put_manifest();
  fenced.publish(fenced.b);
  fenced.remove(keys::log_object(fenced.a, LogSeq(0)), Purpose::kGc);
  fenced.step(Step::kFenced, fenced.a, {}, 0);
  EXPECT_TRUE(fenced.observer.verdict().empty()) << to_string(fenced.observer.verdict().kept()[0]);
}

TEST(BucketChecks, NothingAtOrAboveAFenceIsAcknowledged) {
  FakeCell cell;
  cell.member(cell.a, MemberState::kExpired);
  cell.fence(cell.a, 1, cell.b);
  cell.fences(cell.b, cell.a, 1);
  cell.batch(cell.a, 0);
  cell.acknowledges(cell.a, 1);
  EXPECT_TRUE(cell.observer.verdict().empty());
  cell.batch(cell.a, 1);  // in the fence's place
  cell.acknowledges(cell.a, 2);
  EXPECT_EQ(
      found(cell, Invariant::kOneAcknowledger, {"acknowledges its log up to 2", "at 1", "R9"}), "");
}

TEST(BucketChecks, AFenceIsNotBelowWhatWasAcknowledged) {
  FakeCell cell;
  for (uint64_t seq = 0; seq < 3; ++seq) cell.batch(cell.a, seq);
  cell.acknowledges(cell.a, 3);
  cell.member(cell.a, MemberState::kExpired);
  cell.fences(cell.b, cell.a, 2);
  EXPECT_EQ(
      found(cell, Invariant::kOneAcknowledger, {"for fenced at 2", "it had acknowledged up to 3"}),
      "");
}

TEST(BucketChecks, AfterATransferTheOldOwnerAcknowledgesNothingThatTheNewOneLacks) {
  FakeCell cell;
  cell.appends(cell.a, 0);
  cell.batch(cell.a, 0);
  cell.seal_and_copy();
  cell.manifest.logs = {{Prefix{}, cell.b, LogSeq(0), std::nullopt}};
  cell.put_manifest();
  cell.publish(cell.b);
  cell.acknowledges(cell.a, 1);
  EXPECT_EQ(found(cell, Invariant::kOneAcknowledger,
                  {cell.a.text() + " acknowledges a record", "seq 0", "owned by " + cell.b.text()}),
            "");
}

TEST(BucketChecks, ABatchIsAcknowledgedWhenItAndAllBelowItHaveLanded) {
  FakeCell cell;
  cell.batch(cell.a, 1);
  cell.acknowledges(cell.a, 2);
  EXPECT_EQ(found(cell, Invariant::kOwnershipRule,
                  {"acknowledges its log up to 2", "object 0 is not in the bucket", "R1"}),
            "");
}

TEST(BucketChecks, AFenceInABatchesPlaceIsNotTheBatch) {
  FakeCell cell;
  cell.fence(cell.a, 0, cell.b);
  cell.acknowledges(cell.a, 1);
  EXPECT_EQ(found(cell, Invariant::kOwnershipRule, {"object 0 is a FENCE by " + cell.b.text()}),
            "");
}

TEST(BucketChecks, WhatAReachableManifestNamesExists) {
  FakeCell cell;
  cell.manifest.tables = {{"sst/a/1.sst", Tree::kMeta, Prefix{}, 10}};
  cell.put_manifest();
  EXPECT_EQ(found(cell, Invariant::kNothingDangling,
                  {cell.manifest_key, "names the table sst/a/1.sst, which does not exist"}),
            "");
}

TEST(BucketChecks, ATableThatIsNamedIsNotDeleted) {
  FakeCell cell;
  cell.put("sst/a/1.sst", "rows");
  cell.put("sst/a/2.sst", "rows");
  cell.manifest.tables = {{"sst/a/1.sst", Tree::kMeta, Prefix{}, 10}};
  cell.put_manifest();
  cell.remove("sst/a/2.sst");
  EXPECT_TRUE(cell.observer.verdict().empty());
  cell.remove("sst/a/1.sst");
  EXPECT_EQ(found(cell, Invariant::kNothingDangling, {"sst/a/1.sst was deleted", "names it"}), "");
}

TEST(BucketChecks, AClosedLogRangeExistsToItsEnd) {
  FakeCell cell;
  cell.batch(cell.b, 0);
  cell.manifest.logs.push_back({Prefix{}, cell.b, LogSeq(0), LogSeq(2)});
  cell.put_manifest();
  EXPECT_EQ(found(cell, Invariant::kNothingDangling,
                  {"names the log range " + cell.b.text() + " [0, 2)", "object 1 does not exist"}),
            "");
}

TEST(BucketChecks, AnAcknowledgedObjectOfAnOpenRangeIsNotDeleted) {
  FakeCell cell;
  for (uint64_t seq = 0; seq < 5; ++seq) cell.batch(cell.a, seq);
  cell.acknowledges(cell.a, 5);
  cell.manifest.logs[0].from = LogSeq(2);
  cell.put_manifest();
  cell.remove(keys::log_object(cell.a, LogSeq(0)));
  cell.remove(keys::log_object(cell.a, LogSeq(1)));
  EXPECT_TRUE(cell.observer.verdict().empty());
  cell.remove(keys::log_object(cell.a, LogSeq(2)));
  EXPECT_EQ(found(cell, Invariant::kNothingDangling, {"was deleted", cell.a.text() + " [2, open)"}),
            "");
}

TEST(BucketChecks, TrimSparesTheLastLandedObjects) {
  FakeCell cell;
  for (uint64_t seq = 0; seq < 4; ++seq) cell.batch(cell.b, seq);
  cell.remove(keys::log_object(cell.b, LogSeq(0)));
  cell.remove(keys::log_object(cell.b, LogSeq(1)));
  EXPECT_TRUE(cell.observer.verdict().empty());
  cell.remove(keys::log_object(cell.b, LogSeq(2)));
  EXPECT_EQ(found(cell, Invariant::kOwnershipRule,
                  {"one of the last 2 landed objects", "4 does not exist", "R7"}),
            "");
}

TEST(BucketChecks, AFenceCountsOnlyIfNothingLiesAWindowBeyondIt) {
  FakeCell cell;
  cell.member(cell.b, MemberState::kExpired);
  cell.batch(cell.b, 2);
  cell.fence(cell.b, 1, cell.a);
  cell.fences(cell.a, cell.b, 1);
  EXPECT_TRUE(cell.observer.verdict().empty());
  FakeCell far;
  far.member(far.b, MemberState::kExpired);
  far.batch(far.b, 3);
  far.fence(far.b, 1, far.a);
  far.fences(far.a, far.b, 1);
  EXPECT_EQ(
      found(far, Invariant::kOwnershipRule, {"for fenced at 1", "object 3 has landed", "R3a"}), "");
}

TEST(BucketChecks, AFenceIsNeverDeleted) {
  FakeCell cell;
  cell.member(cell.a, MemberState::kExpired);
  cell.fence(cell.a, 0, cell.b);
  cell.fences(cell.b, cell.a, 0);
  cell.remove(keys::log_object(cell.a, LogSeq(0)));
  EXPECT_NE(cell.observer.verdict().count(), 0u);
  bool says_so = false;
  for (const Violation& violation : cell.observer.verdict().kept()) {
    says_so |= violation.message.find("is a FENCE (R8)") != std::string::npos;
  }
  EXPECT_TRUE(says_so);
}

TEST(BucketChecks, TheTopologyNamesNothingThatDoesNotExist) {
  FakeCell cell;
  cell.seal_and_copy();
  cell.manifest_key = "shards/root/nowhere.manifest";
  cell.publish(cell.b);
  EXPECT_EQ(found(cell, Invariant::kNothingDangling,
                  {"names shards/root/nowhere.manifest, which does not exist"}),
            "");
}

TEST(BucketChecks, AManifestLeavesTheTopologyOnlySealed) {
  FakeCell cell;
  cell.manifest_key = "shards/root/second.manifest";
  cell.manifest.logs = {{Prefix{}, cell.b, LogSeq(0), std::nullopt}};
  cell.put_manifest();
  cell.publish(cell.b);
  EXPECT_EQ(found(cell, Invariant::kOwnershipRule,
                  {"no longer names shards/root/first.manifest", "not sealed"}),
            "");
}

TEST(BucketChecks, ARowListsTheLogsThatItsManifestNames) {
  FakeCell cell;
  cell.manifest.logs = {{Prefix{}, cell.b, LogSeq(0), std::nullopt}};
  cell.put_manifest();
  EXPECT_EQ(found(cell, Invariant::kOwnershipRule,
                  {"names the log of " + cell.b.text(), "does not list"}),
            "");
}

TEST(FencingRules, OnlyForeignContentFences) {
  for (bool foreign : {true, false}) {
    FakeCell cell;
    if (foreign) {
      cell.fence(cell.a, 0, cell.b);
    } else {
      cell.batch(cell.a, 0);
    }
    cell.step(Step::kFenced, cell.a, {}, 0);
    EXPECT_EQ(cell.observer.verdict().empty(), foreign);
    if (!foreign) {
      EXPECT_EQ(found(cell, Invariant::kNoFalseFencing, {"stops as fenced", "its own batch"}), "");
    }
  }
}

TEST(FencingRules, AnIncarnationStopsAsExpiredOnlyIfItsDocumentSaysSo) {
  FakeCell cell;
  cell.step(Step::kLoseLease, cell.a);
  EXPECT_EQ(found(cell, Invariant::kNoFalseFencing, {"stops as expired", "is live in its member"}),
            "");
  FakeCell expired;
  expired.member(expired.a, MemberState::kExpired);
  expired.step(Step::kLoseLease, expired.a);
  FakeCell replaced;
  replaced.member(incarnation("a", 2), MemberState::kLive);
  replaced.step(Step::kLoseLease, replaced.a);
  EXPECT_TRUE(expired.observer.verdict().empty());
  EXPECT_TRUE(replaced.observer.verdict().empty());
}

TEST(FencingRules, NobodyIsFencedOrCalledExpiredWhileItsDocumentIsLive) {
  FakeCell fenced;
  fenced.fence(fenced.a, 0, fenced.b);
  fenced.fences(fenced.b, fenced.a, 0);
  EXPECT_EQ(found(fenced, Invariant::kOwnershipRule, {"has fenced " + fenced.a.text(), "R3"}), "");
  FakeCell expired;
  expired.step(Step::kExpire, expired.b, expired.a.text());
  EXPECT_EQ(found(expired, Invariant::kOwnershipRule, {"says it has expired", "is live"}), "");
}

TEST(FencingRules, AProcessThatSaysItWasFencedHasTakenTheStep) {
  FakeCell cell;
  cell.observer.stopped("a", cell.a.text(), StopReason::kFenced, "");
  EXPECT_EQ(found(cell, Invariant::kNoFalseFencing, {"ended as fenced without"}), "");
}

TEST(ReadLease, NobodyAnswersAReadOnceAnotherOwnerHasAcknowledgedAWrite) {
  FakeCell cell;
  const std::string target = "/v1/stream/s?offset=-1";
  cell.seal_and_copy();
  cell.manifest.logs = {{Prefix{}, cell.b, LogSeq(0), std::nullopt}};
  cell.put_manifest();
  cell.publish(cell.b);
  cell.observer.read_answered("a", "default", target);
  EXPECT_TRUE(cell.observer.verdict().empty());  // b has not written yet
  cell.appends(cell.b, 0);
  cell.batch(cell.b, 0);
  cell.acknowledges(cell.b, 1);
  cell.observer.read_answered("b", "default", target);
  EXPECT_TRUE(cell.observer.verdict().empty());
  cell.observer.read_answered("a", "default", target);
  EXPECT_EQ(found(cell, Invariant::kLinearizable,
                  {"a answers a read of s from its own state", "owned by " + cell.b.text()}),
            "");
}

}  // namespace
}  // namespace morula::invariants
