// Invariant 18, transfers: what is done rightly, the specs can do; each way to do it wrongly, they
// can't.
#include <gtest/gtest.h>

#include "invariants/twin/spec_steps.hpp"
#include "tests/invariants/twin_story.hpp"

namespace morula::invariants {
namespace {

TEST(SpecSteps, WhatIsDoneRightlyIsAStepOfTheSpec) {
  for (const auto& prepare :
       {&TwinStory::prepare_handoff, &TwinStory::prepare_split, &TwinStory::prepare_merge}) {
    EXPECT_EQ(told_of([&](TwinStory& s) {
                (s.*prepare)();
                s.publish(s.a);
              }),
              "");
  }
  EXPECT_EQ(told_of([](TwinStory& s) {
              s.prepare_takeover();
              s.publish(s.b);
              s.append(s.b, 0);
            }),
            "");
}

TEST(SpecSteps, AHandoffThatFailedIsFollowedByAReopen) {
  EXPECT_EQ(told_of([](TwinStory& s) {
              const std::string again = keys::manifest({}, Epoch(2), Version(1), Ulid{4, 4});
              const Topology before = s.topology;
              s.prepare_handoff();
              s.topology = before;
              s.create(TwinStory::manifest({}, s.a, Prefix{}, 0), again, s.a);
              s.name(2, s.a, again, {s.a});
              s.publish(s.a);
              s.append(s.a, 3);
            }),
            "");
}

/// A transfer that is right but for one thing, which is changed before its swap is sent.
void expect_wrong_swap(void (TwinStory::*prepare)(), bool by_b, const Part& spoil,
                       std::string_view words) {
  expect_told([&](TwinStory& s) { (s.*prepare)(); },
              [&](TwinStory& s) {
                spoil(s);
                s.send_topology(by_b ? s.b : s.a);
              },
              words);
}

/// The same of a transfer for which another manifest is put than is right.
void expect_wrong_manifest(void (TwinStory::*prepare)(), bool by_b,
                           const std::function<void(Manifest&)>& spoil, std::string_view words) {
  expect_told(
      [&](TwinStory& s) {
        const bool splits = prepare == &TwinStory::prepare_split;
        s.spoilt_key = splits ? TwinStory::half_key(true) : s.next_key;
        s.spoil = spoil;
        (s.*prepare)();
      },
      [&](TwinStory& s) { s.send_topology(by_b ? s.b : s.a); }, words);
}

TEST(SpecSteps, ATransferRaisesTheEpochAndNamesTheLogsOfItsManifest) {
  const Part epoch = [](TwinStory& s) { s.topology.shards[0].epoch = Epoch(7); };
  expect_wrong_swap(&TwinStory::prepare_handoff, false, epoch, "HandOff");
  expect_wrong_swap(&TwinStory::prepare_split, false, epoch, "Split");
  expect_wrong_swap(&TwinStory::prepare_merge, false, epoch, "Merge");
  const Part logs = [](TwinStory& s) { s.topology.shards[0].logs = {s.b}; };
  expect_wrong_swap(&TwinStory::prepare_handoff, false, logs, "HandOff");
}

TEST(SpecSteps, ATakerHasFencedAndSealedAndTakesNoMoreThanIsBelowTheFence) {
  const auto adopt = [](TwinStory& s) {
    s.create(TwinStory::manifest({{Prefix{}, s.a, LogSeq(0), LogSeq(3)}}, s.b, Prefix{}, 0),
             s.next_key, s.b);
    s.name(2, s.b, s.next_key, {s.a, s.b});
    s.send_topology(s.b);
  };
  const Part log = [](TwinStory& s) { s.log(s.a, 0, 3); };
  expect_told(log, adopt, "Adopt incarnation=1 prefix");
  expect_told(
      log, [](TwinStory& s) { s.seal(s.first_key, s.b); }, "Seal");
  const Part fenced = [&](TwinStory& s) {
    log(s);
    s.put_fence(s.a, 3, s.b);
    s.fence(s.b, s.a, 3);
  };
  expect_told(fenced, adopt, "is not sealed");
}

TEST(SpecSteps, ATakersEntryBeginsAtItsNextSeqAndTheLastOnesIsClosedAtTheFence) {
  const auto expect_wrong = [](const std::function<void(Manifest&)>& spoil) {
    expect_wrong_manifest(&TwinStory::prepare_takeover, true, spoil, "Adopt");
  };
  expect_wrong([](Manifest& m) { m.logs[0].to = LogSeq(2); });
  expect_wrong([](Manifest& m) { m.logs[0].to.reset(); });
  expect_wrong([](Manifest& m) { m.logs[1].from = LogSeq(1); });
  expect_wrong([](Manifest& m) { m.logs.erase(m.logs.begin()); });
}

TEST(SpecSteps, AGiverWaitsForItsRecordsAndHasAPromise) {
  const Part late = [](TwinStory& s) { s.append(s.a, 3); };
  expect_wrong_swap(&TwinStory::prepare_handoff, false, late, "HandOff");
  const auto expect_wrong = [](const std::function<void(Manifest&)>& spoil) {
    expect_wrong_manifest(&TwinStory::prepare_handoff, false, spoil, "HandOff");
  };
  expect_wrong([](Manifest& m) { m.logs[0].to = LogSeq(2); });
  expect_wrong([](Manifest& m) { m.logs[0].to = LogSeq(4); });
  expect_wrong([](Manifest& m) { m.logs[1].from = LogSeq(1); });
  expect_told(
      [](TwinStory& s) {
        s.log(s.a, 0, 3);
        s.seal(s.first_key, s.a);
        s.create(TwinStory::manifest({{Prefix{}, s.a, LogSeq(0), LogSeq(3)}}, s.b, Prefix{}, 0),
                 s.next_key, s.a);
        s.name(2, s.b, s.next_key, {s.a, s.b});
      },
      [](TwinStory& s) { s.send_topology(s.a); }, "HandOff incarnation=1");
}

TEST(SpecSteps, AGiverServesNothingWhileItsSwapIsOpenAndNothingOnceItHasLanded) {
  const Part sent = [](TwinStory& s) {
    s.prepare_handoff();
    s.send_topology(s.a);
  };
  const Part append = [](TwinStory& s) { s.append(s.a, 3); };
  expect_told(sent, append, "PutLog");
  expect_told([&](TwinStory& s) { sent(s), s.land_topology(); }, append, "PutLog");
}

TEST(SpecSteps, ASplitNarrowsEveryEntryAndAMergeWidensNone) {
  const auto split = [](const auto& change) {
    expect_wrong_manifest(&TwinStory::prepare_split, false, change, "Split");
  };
  split([](Manifest& m) { m.tables[0].clip = Prefix{}; });
  split([](Manifest& m) { m.logs[0].clip = Prefix{}; });
  split([](Manifest& m) { m.tables.clear(); });
  split([](Manifest& m) { m.mark = Generation(9); });
  const auto merge = [](const auto& change) {
    expect_wrong_manifest(&TwinStory::prepare_merge, false, change, "Merge");
  };
  merge([](Manifest& m) { m.logs[0].clip = Prefix{}; });
  merge([](Manifest& m) { m.logs.pop_back(); });
  merge([](Manifest& m) { m.tables[0].clip = Prefix{}.child(true); });
}

TEST(SpecSteps, NobodyChangesTheShardsOfAnotherOrTwoAtOnce) {
  const Part nothing_else = [](TwinStory&) {};
  expect_wrong_swap(&TwinStory::prepare_split, true, nothing_else, "no action does this");
  expect_wrong_swap(&TwinStory::prepare_handoff, true, nothing_else, "cannot be taken");
}

TEST(SpecSteps, ASwapLandsOnItsBaseOnly) {
  const Part late = [](TwinStory& s) {
    ++s.topology.version;
    s.publish(s.a);
  };
  expect_told(nothing, late, "Publish");
}

}  // namespace
}  // namespace morula::invariants
