// Invariant 18, logs, tables and leases: what is done rightly, the specs can do; each way to do it
// wrongly, they can't.
#include <gtest/gtest.h>

#include "invariants/twin/spec_steps.hpp"
#include "tests/invariants/twin_story.hpp"

namespace morula::invariants {
namespace {

TEST(SpecSteps, AnOwnerAppendsFlushesAndTrims) {
  EXPECT_EQ(told_of([](TwinStory& s) {
              s.log(s.a, 0, 6);
              s.flush(s.first_key, s.a, 5);
              for (uint64_t seq = 0; seq < 4; ++seq) s.remove(s.a, seq, Purpose::kTrim);
              s.log(s.a, 6, 8);
            }),
            "");
}

TEST(SpecSteps, WhoDoesNotServeAShardAppendsNothingToIt) {
  expect_told(
      nothing, [](TwinStory& s) { s.append(s.b, 0); }, "PutLog");
}

TEST(SpecSteps, ABatchIsSentWithinTheWindowAndAfterTheLast) {
  const Part sent = [](TwinStory& s) {
    for (uint64_t seq : {0, 1}) s.put(s.a, seq);
    s.land(s.a, 1);
  };
  expect_told(
      sent, [](TwinStory& s) { s.put(s.a, 2); }, "PutLog incarnation=1 shard=1 cannot");
  expect_told(
      nothing, [](TwinStory& s) { s.put(s.a, 1); }, "PutLog incarnation=1 shard=1 has");
}

TEST(SpecSteps, WhatWasNotSentDoesNotLand) {
  expect_told(
      nothing, [](TwinStory& s) { s.land(s.a, 0); }, "LandLog");
}

TEST(SpecSteps, WhatIsAcknowledgedHasLandedWithAllBelowIt) {
  const Part hole = [](TwinStory& s) {
    for (uint64_t seq : {0, 1}) s.put(s.a, seq);
    s.land(s.a, 1);
  };
  expect_told(
      hole, [](TwinStory& s) { s.acknowledge(s.a, 2); }, "Acked");
}

TEST(SpecSteps, AFlushBeginsAtWhatIsAcknowledged) {
  const Part sent = [](TwinStory& s) {
    s.log(s.a, 0, 3);
    s.put(s.a, 3);
  };
  expect_told(
      sent, [](TwinStory& s) { s.flush(s.first_key, s.a, 4); }, "Flush");
  const Part flushed = [](TwinStory& s) {
    s.log(s.a, 0, 3);
    s.flush(s.first_key, s.a, 3);
  };
  expect_told(
      flushed, [](TwinStory& s) { s.flush(s.first_key, s.a, 1); }, "Flush");
}

TEST(SpecSteps, OnlyWhoServesAShardFlushesIt) {
  const Part before = [](TwinStory& s) { s.log(s.a, 0, 3); };
  expect_told(
      before, [](TwinStory& s) { s.flush(s.first_key, s.b, 0); }, "Flush");
}

TEST(SpecSteps, AFlushForgetsNoTableAndWidensNone) {
  const Part flushed = [](TwinStory& s) {
    s.log(s.a, 0, 3);
    s.flush(s.first_key, s.a, 2);
  };
  expect_told(
      flushed,
      [](TwinStory& s) {
        s.swap(s.first_key, s.a, [&](Manifest& next) {
          next.logs[0].from = LogSeq(3);
          next.tables.clear();
        });
      },
      "forgets");
}

TEST(SpecSteps, ASealedManifestIsChangedNoMore) {
  const Part sealed = [](TwinStory& s) {
    s.log(s.a, 0, 3);
    s.seal(s.first_key, s.a);
  };
  const Part flush = [](TwinStory& s) {
    s.swap(s.first_key, s.a, [](Manifest& next) {
      next.sealed = false;
      next.logs[0].from = LogSeq(2);
    });
  };
  expect_told(sealed, flush, "Flush incarnation=1 shard=1 cannot be taken");
}

TEST(SpecSteps, WhatIsNamedPinnedOrAmongTheLastIsNotTrimmed) {
  const Part log = [](TwinStory& s) { s.log(s.a, 0, 6); };
  const Part trim = [](TwinStory& s) { s.remove(s.a, 0, Purpose::kTrim); };
  expect_told(log, trim, "Trim");
  const Part flushed = [&](TwinStory& s) {
    log(s);
    s.flush(s.first_key, s.a, 6);
  };
  expect_told(
      nothing, [&](TwinStory& s) { flushed(s), s.remove(s.a, 4, Purpose::kTrim); }, "Trim");
  // It has promised where an entry of another's shard would begin, and deletes up to beyond it.
  const Part promised = [&](TwinStory& s) {
    s.log(s.a, 0, 1);
    s.accept(s.a, 1);
    s.log(s.a, 1, 6);
    s.flush(s.first_key, s.a, 6);
  };
  expect_told(
      promised, [](TwinStory& s) { s.remove(s.a, 1, Purpose::kTrim); }, "Trim");
}

TEST(SpecSteps, ATrimMayTakeAStrayFenceButNoneThatCounted) {
  const Part trimmed = [](TwinStory& s) {
    s.log(s.a, 0, 5);
    s.flush(s.first_key, s.a, 5);
    for (uint64_t seq = 0; seq < 3; ++seq) s.remove(s.a, seq, Purpose::kTrim);
  };
  const auto fenced_at = [&](uint64_t seq) {
    return [=](TwinStory& s) { trimmed(s), s.put_fence(s.a, seq, s.b); };
  };
  const auto trim = [](uint64_t seq) {
    return [=](TwinStory& s) { s.remove(s.a, seq, Purpose::kTrim); };
  };
  EXPECT_EQ(told_of([&](TwinStory& s) { fenced_at(1)(s), trim(1)(s); }), "");
  expect_told(fenced_at(5), trim(5), "Trim");
}

TEST(SpecSteps, AStopWritesItsFenceLastAndPromisesNothingAfterIt) {
  const Part log = [](TwinStory& s) { s.log(s.a, 0, 3); };
  const Part stop = [](TwinStory& s) { s.put_fence(s.a, 3, s.a); };
  EXPECT_EQ(told_of([&](TwinStory& s) { log(s), stop(s); }), "");
  expect_told([&](TwinStory& s) { log(s), s.put(s.a, 3); },
              [](TwinStory& s) { s.put_fence(s.a, 4, s.a); }, "Stop");
  expect_told(
      log, [](TwinStory& s) { s.put_fence(s.a, 4, s.a); }, "Stop");
  expect_told([&](TwinStory& s) { log(s), stop(s); }, [](TwinStory& s) { s.accept(s.a, 3); },
              "Accept");
}

TEST(SpecSteps, APromiseIsTheNextSeq) {
  EXPECT_EQ(told_of([](TwinStory& s) { s.accept(s.b, 0); }), "");
  const Part log = [](TwinStory& s) { s.log(s.a, 0, 3); };
  for (const uint64_t q : {2, 4}) {
    expect_told(
        log, [&](TwinStory& s) { s.accept(s.a, q); }, "Accept");
  }
}

TEST(SpecSteps, AFenceCountsOnlyIfNothingLiesAWindowBeyondIt) {
  const Part below = [](TwinStory& s) {
    s.log(s.a, 0, 5);
    s.flush(s.first_key, s.a, 5);
    for (uint64_t seq = 0; seq < 3; ++seq) s.remove(s.a, seq, Purpose::kTrim);
    s.put_fence(s.a, 1, s.b);
  };
  expect_told(
      below, [](TwinStory& s) { s.fence(s.b, s.a, 1); }, "Fence");
  expect_told(
      nothing, [](TwinStory& s) { s.fence(s.b, s.a, 0); }, "there is none");
}

TEST(SpecSteps, ALogIsCollectedOnlyFencedUnownedAndUnnamedAndNoFenceEver) {
  const Part over = [](TwinStory& s) {
    s.prepare_takeover();
    s.publish(s.b);
  };
  expect_told(
      over, [](TwinStory& s) { s.remove(s.a, 0, Purpose::kGc); }, "Collect");
  const Part flushed = [&](TwinStory& s) {
    over(s);
    s.flush(s.next_key, s.b, 0);
    for (uint64_t seq = 0; seq < 3; ++seq) s.remove(s.a, seq, Purpose::kGc);
  };
  EXPECT_EQ(told_of(flushed), "");
  expect_told(
      flushed, [](TwinStory& s) { s.remove(s.a, 3, Purpose::kGc); }, "Collect");
  expect_told([](TwinStory& s) { s.log(s.a, 0, 5), s.flush(s.first_key, s.a, 5); },
              [](TwinStory& s) { s.remove(s.a, 0, Purpose::kGc); }, "CollectJudge");
}

TEST(SeenCell, ACollectorMayGoByAnyTopologySinceItAskedLast) {
  twin::SeenCell cell;
  const IncarnationId a{"a", Ulid{1, 1}};
  const IncarnationId b{"b", Ulid{1, 1}};
  uint64_t version = 0;
  const auto names = [&](const IncarnationId& owner) {
    Topology topology;
    topology.version = Version(++version);
    topology.shards = {{Prefix{}, Epoch(version), owner, "manifest", {owner}}};
    cell.landed(std::make_shared<Topology>(std::move(topology)));
  };
  names(a);
  cell.collector_asks(1);
  EXPECT_TRUE(cell.is_owner_to(1, a));
  names(b);
  EXPECT_FALSE(cell.is_owner_to(1, a)) << "its read may have come after this";
  names(a);
  EXPECT_FALSE(cell.is_owner_to(1, a)) << "a got the shard when the collector had read on";
  EXPECT_TRUE(cell.is_owner_to(2, a)) << "of one that was not heard asking, the present counts";
  cell.collector_asks(1);
  EXPECT_TRUE(cell.is_owner_to(1, a));
}

TEST(SpecSteps, AStepIsSaidOnceAndOnlyOfWhatHasLanded) {
  const auto says = [](Step what, std::string_view subject, uint64_t position, uint64_t other) {
    return [=](TwinStory& s) { s.step(what, s.a, std::string(subject), position, other); };
  };
  const std::string key = TwinStory().first_key;
  const Part sealed = [](TwinStory& s) { s.seal(s.first_key, s.a); };
  const Part seal = says(Step::kSeal, key, 0, 2);
  EXPECT_EQ(told_of([&](TwinStory& s) { sealed(s), seal(s); }), "");
  expect_told(nothing, seal, "Seal");
  expect_told([&](TwinStory& s) { sealed(s), seal(s); }, seal, "Seal");

  const Part flushed = [](TwinStory& s) {
    s.log(s.a, 0, 3);
    s.flush(s.first_key, s.a, 2);
  };
  EXPECT_EQ(told_of([&](TwinStory& s) { flushed(s), says(Step::kFlush, "root", 2, 2)(s); }), "");
  expect_told(flushed, says(Step::kFlush, "root", 3, 2), "Flush");

  const Part split = [](TwinStory& s) {
    s.prepare_split();
    s.publish(s.a);
  };
  EXPECT_EQ(told_of([&](TwinStory& s) { split(s), says(Step::kSplit, "root", 2, 0)(s); }), "");
  expect_told(split, says(Step::kMerge, "root", 2, 0), "Merge");
  expect_told(split, says(Step::kReopen, "root", 2, 0), "Reopen");
}

TEST(SpecSteps, WhoSaysThatItTrimsOrReplaysMay) {
  const Part log = [](TwinStory& s) { s.log(s.a, 0, 6); };
  const Part flushed = [&](TwinStory& s) { log(s), s.flush(s.first_key, s.a, 5); };
  const Part trim = [](TwinStory& s) { s.step(Step::kTrim, s.a, {}, 4); };
  EXPECT_EQ(told_of([&](TwinStory& s) { flushed(s), trim(s); }), "");
  expect_told(log, trim, "Trim");
  expect_told(
      flushed, [](TwinStory& s) { s.step(Step::kTrim, s.a, {}, 5); }, "Trim");
  const Part replay = [](TwinStory& s) { s.step(Step::kReplay, s.b, s.a.text(), 3, 6); };
  EXPECT_EQ(told_of([&](TwinStory& s) { log(s), replay(s); }), "");
  expect_told([](TwinStory& s) { s.log(s.a, 0, 5); }, replay, "Replay");
}

TEST(SpecSteps, AnAskHasOneAnswer) {
  const auto accept = [](TwinStory& s, uint64_t attempt) {
    const std::string actor = s.a.text();
    s.steps.step({Step::kAccept, actor, "root", s.topology.version.value, 1, attempt}, {});
  };
  const Part once = [&](TwinStory& s) {
    s.log(s.a, 0, 1);
    accept(s, 7);
  };
  EXPECT_EQ(told_of([&](TwinStory& s) { once(s), accept(s, 8); }), "");
  expect_told(
      once, [&](TwinStory& s) { accept(s, 7); }, "Accept");
}

TEST(SpecSteps, ATableIsCollectedOnlyUnnamedAndNotAboutToBeNamed) {
  const std::string key = keys::table(TwinStory().a, 2);
  const Part collect = [&](TwinStory& s) { s.steps.removed(key, Purpose::kGc, 0, {}); };
  const Part log = [](TwinStory& s) { s.log(s.a, 0, 3); };
  EXPECT_EQ(told_of([&](TwinStory& s) { log(s), collect(s); }), "");
  const Part sent = [&](TwinStory& s) {
    log(s);
    s.send_swap(s.first_key, s.a, [&](Manifest& next) {
      next.logs[0].from = LogSeq(2);
      next.tables.push_back(TwinStory::table(s.a, 2, Prefix{}));
    });
  };
  expect_told(sent, collect, "Collect");
  expect_told([&](TwinStory& s) { log(s), s.flush(s.first_key, s.a, 2); }, collect, "Collect");
}

TEST(SpecSteps, AMemberDocumentIsRenewedByItsHolderUntilItIsOverAndThenByTheNext) {
  using enum MemberState;
  const auto live = [](TwinStory& s) { s.member(s.a, s.a, kLive); };
  const auto expire = [](TwinStory& s) { s.member(s.a, s.b, kExpired); };
  const auto next = [](TwinStory& s) {
    const IncarnationId again{s.a.name, Ulid{9, 9}};
    s.member(again, again, kLive);
  };
  EXPECT_EQ(told_of([&](TwinStory& s) { live(s), live(s), expire(s), next(s); }), "");
  expect_told([&](TwinStory& s) { live(s), expire(s); }, live, "Lease: Land");
  expect_told([&](TwinStory& s) { live(s), expire(s); }, expire, "LandExpire");
  expect_told(live, next, "no action does this");
  const auto stop = [](TwinStory& s) { s.member(s.a, s.a, kStopped); };
  EXPECT_EQ(told_of([&](TwinStory& s) { live(s), stop(s), next(s); }), "");
  expect_told([&](TwinStory& s) { live(s), stop(s); }, live, "RenewLease");
  const Part lose = [](TwinStory& s) { s.step(Step::kLoseLease, s.a); };
  EXPECT_EQ(told_of([&](TwinStory& s) { live(s), expire(s), lose(s); }), "");
  expect_told(live, lose, "LoseLease");
}

}  // namespace
}  // namespace morula::invariants
