// Streams that end by themselves, and what `Stream-Seq` promises.
#include <gtest/gtest.h>

#include "tests/invariants/story.hpp"

namespace morula::invariants {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

Request mortal(uint32_t number, uint64_t ttl_seconds) {
  Request out = Story::create(1, number);
  out.ttl_seconds = ttl_seconds;
  return out;
}

/// Created with a TTL of 8 s, and read half a TTL later.
void create_and_read(Story& story) {
  story.tell(mortal(1, 8), Story::ok(1, 0));
  story.pass(seconds(4));
  story.read_shows(1, 2, 1, Story::kNothing);
}

TEST(StreamLifetime, AStreamMayBeGoneWhenItsTtlIsOver) {
  Story story;
  story.begin_wall_clocks();
  create_and_read(story);
  story.pass(seconds(8));
  story.tell(Story::head(1, 3), Story::absent());
  EXPECT_TRUE(story.finish().empty());
}

TEST(StreamLifetime, AStreamIsNotGoneBeforeItsTtlIsOverSinceTheLastRead) {
  Story story;
  story.begin_wall_clocks();
  create_and_read(story);
  story.pass(milliseconds(7990));
  story.tell(Story::head(1, 3), Story::absent());
  EXPECT_EQ(mismatch(story.finish(), Invariant::kExpiry, {"was gone by", "time was not over"}), "");
}

TEST(StreamLifetime, AStreamWithoutADeadlineIsNotGoneByItself) {
  Story story;
  story.begin_wall_clocks();
  story.created(1, 1, 1);
  story.pass(seconds(100));
  story.tell(Story::head(1, 2), Story::absent());
  EXPECT_EQ(mismatch(story.finish(), Invariant::kLinearizable, {"no delete of its own"}), "");
}

TEST(StreamLifetime, AClockThatIsAheadMayEndAStreamEarly) {
  Story story;
  story.begin_wall_clocks(seconds(3));
  create_and_read(story);
  story.pass(seconds(5));
  story.tell(Story::head(1, 3), Story::absent());
  EXPECT_TRUE(story.finish().empty());
}

TEST(StreamLifetime, AClockThatWasAheadOnceMayEndAStreamEarly) {
  Story story;
  story.begin_wall_clocks();
  create_and_read(story);
  story.set_walls(8000);
  story.set_walls(-8000);
  story.pass(seconds(1));
  story.tell(Story::head(1, 3), Story::absent());
  EXPECT_TRUE(story.finish().empty());
}

TEST(StreamLifetime, AStreamMayLiveAnEighthLongerButNotMore) {
  for (const bool late : {false, true}) {
    Story story;
    story.begin_wall_clocks();
    create_and_read(story);
    story.pass(milliseconds(late ? 9002 : 8990));
    story.tell(Story::head(1, 3), Story::ok(1, 0));
    EXPECT_EQ(mismatch(story.finish(), Invariant::kExpiry, {"time was over"}),
              late ? "" : "nothing was found wrong");
  }
}

TEST(StreamLifetime, AnUnansweredReadMayHaveRenewedAStreamAtAnyTime) {
  Story story;
  story.begin_wall_clocks();
  create_and_read(story);
  story.tell(Story::read(1, 3), Story::unknown());
  story.pass(seconds(20));
  story.tell(Story::head(1, 4), Story::ok(1, 0));
  EXPECT_TRUE(story.finish().empty());
}

TEST(StreamLifetime, AReadThatWaitedUntilAllWasOverMayHaveRenewedTheStreamBefore) {
  for (const bool in_time : {true, false}) {
    Story story;
    story.begin_wall_clocks();
    create_and_read(story);
    story.pass(milliseconds(7000));
    const OpRef waits = in_time ? story.begin(Story::read(1, 3)) : OpRef{};
    story.pass(milliseconds(6000));
    story.tell(Story::head(1, 4), Story::ok(1, 0));
    story.pass(milliseconds(9000));
    if (in_time) story.end(waits, Story::absent());
    EXPECT_EQ(mismatch(story.finish(), Invariant::kExpiry, {"time was over"}),
              in_time ? "nothing was found wrong" : "");
  }
}

TEST(StreamLifetime, AStreamThatWasGoneStaysGone) {
  Story story;
  story.begin_wall_clocks();
  create_and_read(story);
  story.pass(milliseconds(8500));
  story.tell(Story::head(1, 3), Story::absent());
  story.tell(Story::head(1, 4), Story::ok(1, 0));
  EXPECT_EQ(mismatch(story.finish(), Invariant::kLinearizable, {"generation 1 deleted by then"}),
            "");
}

TEST(StreamLifetime, ATimeOfExpiryIsKeptWhateverIsRead) {
  for (const int64_t off : {-100, 100}) {
    for (const bool there : {false, true}) {
      Story story;
      story.begin_wall_clocks();
      Request create = Story::create(1, 1);
      create.expires_at = WallTime{5000};
      story.tell(create, Story::ok(1, 0));
      story.pass(seconds(4));
      story.read_shows(1, 2, 1, Story::kNothing);
      story.pass(milliseconds(1000 + off));
      story.tell(Story::head(1, 3), there ? Story::ok(1, 0) : Story::absent());
      const bool right = there == (off < 0);
      EXPECT_EQ(mismatch(story.finish(), Invariant::kExpiry, {}),
                right ? "nothing was found wrong" : "");
    }
  }
}

Request numbered(uint32_t number, std::string sequence) {
  Request out = Story::append(1, number);
  out.sequence = std::move(sequence);
  return out;
}

Response regression() {
  Response out = Story::refused(409);
  out.code = "sequence_regression";
  return out;
}

TEST(StreamSeq, GrowsFromRecordToRecord) {
  for (const char* second : {"b", "a"}) {
    Story story;
    story.created(1, 1, 1);
    story.tell(numbered(2, "a"), Story::ok(1, 1));
    story.tell(numbered(3, second), Story::ok(1, 2));
    EXPECT_EQ(story.finish().empty(), *second == 'b');
  }
}

TEST(StreamSeq, IsRefusedOnlyWhenAHigherOneMayHaveBeenThere) {
  for (const char* other : {"a", "c"}) {
    Story story;
    story.created(1, 1, 1);
    story.tell(numbered(2, other), Story::unknown());
    story.tell(numbered(3, "b"), regression());
    EXPECT_EQ(story.finish().empty(), *other == 'c');
  }
}

}  // namespace
}  // namespace morula::invariants
