// Invariants 1 (before any crash), 7 and 8, and error lines.
#include "invariants/observer.hpp"

#include <gtest/gtest.h>

#include "tests/invariants/fake_cell.hpp"
#include "tests/invariants/story.hpp"

namespace morula::invariants {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Words = std::vector<std::string>;

constexpr HandlerId kHandler = 7;

std::string found(const FakeCell& cell, Invariant invariant, const Words& words) {
  return mismatch(cell.observer.verdict(), invariant, words);
}

Request on_stream(Request request) {
  request.path = "s";
  request.message_bytes = request.messages > 0 ? kStoryBytes : 0;
  return request;
}

/// A request that has arrived, whose append has joined a's log as its batch 0.
void append_under_way(FakeCell& cell) {
  cell.observer.request_arrived(kHandler, "i1", "POST", "/v1/stream/s");
  cell.appends(cell.a, 0, kHandler);
  cell.now += milliseconds(5);
  cell.batch(cell.a, 0);
}

TEST(Observer, AnAppendThatIsAnsweredWhenItsBatchIsAcknowledgedIsFine) {
  FakeCell cell;
  cell.observer.request_arrived(kHandler, "i1", "POST", "/v1/stream/s");
  cell.observer.store_asked(kHandler, false, Purpose::kMetaRead, "sst/1");
  cell.appends(cell.a, 0, kHandler);
  cell.observer.store_asked(0, true, Purpose::kLog, "log/a/0");
  cell.observer.store_asked(0, true, Purpose::kHeartbeat, "members/a.json");
  cell.now += milliseconds(5);
  cell.batch(cell.a, 0);
  cell.acknowledges(cell.a, 1);
  cell.observer.request_answered(kHandler, 204);
  EXPECT_TRUE(cell.observer.verdict().empty());
}

// In the real world time passes between any two looks at a clock.
TEST(Observer, AnOperationsTimeIsWhenTheWallWasReadForIt) {
  FakeCell nothing;
  Duration now{};
  WallTime wall{1000};
  Observer observer([&] { return now += std::chrono::microseconds(1); }, nothing);
  observer.sees_clients_only();
  observer.watch_walls([&] { return WallClocks::Reading{wall, wall}; });
  const auto create = [&](uint32_t number, WallTime answered) {
    Request request = on_stream(Story::create(1, number));
    request.ttl_seconds = 1;
    const OpRef op = observer.begin(request);
    wall = answered;
    observer.end(op, Story::ok(number, 0));
  };
  create(1, WallTime{1500});  // so its time may have been over at 2000
  wall = WallTime{2100};
  create(2, WallTime{2110});
  observer.finish();
  EXPECT_TRUE(observer.verdict().empty());
}

TEST(Observer, AHandlerWritesNothingToTheStore) {
  FakeCell cell;
  cell.observer.request_arrived(kHandler, "i1", "POST", "/v1/stream/s");
  cell.observer.store_asked(kHandler, true, Purpose::kFlush, "sst/1");
  EXPECT_EQ(found(cell, Invariant::kAppendPath,
                  {"i1's handler of POST /v1/stream/s", "writes to the store", "sst/1"}),
            "");
}

TEST(Observer, AHandlerDoesNotLookAtLeases) {
  FakeCell cell;
  cell.observer.request_arrived(kHandler, "i1", "POST", "/v1/stream/s");
  cell.observer.store_asked(kHandler, false, Purpose::kHeartbeat, "members/a.json");
  EXPECT_EQ(found(cell, Invariant::kAppendPath, {"looks at ownership or leases"}), "");
}

TEST(Observer, AHandlerAsksNothingOnceItsAppendHasJoinedTheLog) {
  FakeCell cell;
  append_under_way(cell);
  cell.observer.store_asked(kHandler, false, Purpose::kMetaRead, "sst/1");
  EXPECT_EQ(found(cell, Invariant::kAppendPath, {"after its append has joined the log"}), "");
}

TEST(Observer, AnAppendIsNotAnsweredBeforeItsBatchIsAcknowledged) {
  FakeCell cell;
  append_under_way(cell);
  cell.observer.request_answered(kHandler, 204);
  EXPECT_EQ(found(cell, Invariant::kAppendPath, {"answers 204 before seq 0"}), "");
}

TEST(Observer, AnAppendIsAnsweredAsSoonAsItsBatchIsAcknowledged) {
  for (bool excused : {false, true}) {
    FakeCell cell;
    append_under_way(cell);
    cell.acknowledges(cell.a, 1);
    if (excused) cell.observer.paused("i1");
    cell.now += milliseconds(1);
    cell.observer.request_answered(kHandler, 204);
    EXPECT_EQ(cell.observer.verdict().empty(), excused);
    if (!excused) {
      EXPECT_EQ(found(cell, Invariant::kAppendPath,
                      {"answers 204 only now", "acknowledged at 0.005000 s", "something else"}),
                "");
    }
  }
}

TEST(Observer, WhatIsAcknowledgedLiesInTheLog) {
  FakeCell cell;
  OpRef op = cell.observer.begin(on_stream(Story::append(1, 1)));
  cell.batch(cell.a, 0, record_body({1, 1}, 1, kStoryBytes, Framing::kBytes));
  cell.observer.end(op, Story::ok(1, 1));
  EXPECT_TRUE(cell.observer.verdict().empty());
  op = cell.observer.begin(on_stream(Story::append(1, 2)));
  cell.observer.end(op, Story::ok(1, 2));
  EXPECT_EQ(found(cell, Invariant::kNothingLost,
                  {"append c1#2", "record c1#2 lies in no log object yet"}),
            "");
}

TEST(Observer, WhatIsShownLiesInTheLog) {
  FakeCell cell;
  std::string body = record_body({1, 1}, 1, kStoryBytes, Framing::kBytes);
  cell.observer.begin(on_stream(Story::append(1, 1)));
  OpRef read = cell.observer.begin(on_stream(Story::read(2, 1)));
  Response response = Story::ok(1, 1);
  response.body = body;
  response.up_to_date = true;
  cell.observer.end(read, response);
  EXPECT_EQ(found(cell, Invariant::kNothingLost, {"read c2#1", "record c1#1 lies in no log"}), "");
}

TEST(Observer, EveryRequestEnds) {
  for (bool died : {false, true}) {
    FakeCell cell;
    cell.observer.begin(on_stream(Story::read(1, 1)));
    if (died) cell.observer.client_died(1);
    cell.observer.finish();
    EXPECT_EQ(cell.observer.verdict().empty(), died);
    if (!died) {
      EXPECT_EQ(found(cell, Invariant::kServed, {"read c1#1", "never ended"}), "");
    }
  }
}

TEST(Observer, EveryStreamIsServedSoonAfterHealing) {
  FakeCell cell;
  OpRef early = cell.observer.begin(on_stream(Story::head(1, 1)));
  cell.observer.end(early, Story::absent());
  cell.now += seconds(1);
  cell.observer.healed(seconds(10));
  cell.now += seconds(11);
  OpRef late = cell.observer.begin(on_stream(Story::head(1, 2)));
  cell.observer.end(late, Story::absent());
  cell.observer.finish();
  EXPECT_EQ(found(cell, Invariant::kServed, {"stream s was not served by 11.000000 s"}), "");
}

TEST(Observer, LongAfterHealingNobodyIsLeftWithoutAnAnswer) {
  FakeCell cell;
  cell.observer.healed(seconds(10));
  OpRef op = cell.observer.begin(on_stream(Story::head(1, 1)));
  cell.observer.end(op, Story::absent());
  cell.now += seconds(11);
  op = cell.observer.begin(on_stream(Story::remove(1, 2)));
  cell.observer.end(op, Story::unknown());
  cell.observer.finish();
  EXPECT_EQ(found(cell, Invariant::kServed, {"delete c1#2", "got no certain answer"}), "");
}

TEST(Observer, AHandlerThatNeverAnswersIsFound) {
  for (bool died : {false, true}) {
    FakeCell cell;
    cell.observer.request_arrived(kHandler, "i1", "GET", "/v1/stream/s");
    if (died) cell.observer.stopped("i1", "", StopReason::kKilled, "");
    cell.observer.healed(seconds(10));
    cell.now += seconds(20);
    cell.observer.finish();
    EXPECT_EQ(cell.observer.verdict().empty(), died);
    if (!died) {
      EXPECT_EQ(found(cell, Invariant::kServed, {"i1's handler", "not been answered"}), "");
    }
  }
}

TEST(Observer, AnErrorLineIsAFailureUnlessDamageExplainsIt) {
  for (bool damaged : {false, true}) {
    FakeCell cell;
    cell.observer.log_line("i1", Severity::kWarning, "slow", {});
    if (damaged) cell.observer.bytes_damaged("i1");
    cell.observer.log_line("i1", Severity::kError, "corrupt_object", {{"key", "sst/1"}});
    EXPECT_EQ(cell.observer.verdict().empty(), damaged);
    if (!damaged) {
      EXPECT_EQ(
          found(cell, Invariant::kNoErrorLine, {"i1 logged an error: corrupt_object key=sst/1"}),
          "");
    }
  }
}

}  // namespace
}  // namespace morula::invariants
