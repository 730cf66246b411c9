#include <gtest/gtest.h>

#include "tests/invariants/story.hpp"

namespace morula::invariants {
namespace {

using Words = std::vector<std::string>;

/// A story that begins with its stream: created by c1#1, generation 1.
class HistoryOfAStream : public testing::Test {
 protected:
  HistoryOfAStream() { story.created(1, 1, 1); }

  /// Seen as soon as it happened.
  void expect_wrong(Invariant invariant, const Words& words) {
    EXPECT_EQ(mismatch(story.so_far(), invariant, words), "");
  }
  /// Seen when all is over.
  void expect_wrong_in_the_end(Invariant invariant, const Words& words) {
    EXPECT_EQ(mismatch(story.finish(), invariant, words), "");
  }
  void expect_nothing_wrong_in_the_end() { EXPECT_EQ(story.finish().count(), 0u); }

  Story story;
};

TEST(StreamHistory, AHistoryInWhichEverythingIsRightPasses) {
  Story story;
  story.tell(Story::head(1, 1), Story::absent());
  story.created(1, 2, 1);
  story.appended(1, 3, 1, 1);
  story.appended(2, 1, 1, 2);
  story.read_shows(3, 1, 1, {{1, 3}, {2, 1}});
  story.tell(Story::remove(1, 4), Story::ok(1, 0));
  story.tell(Story::read(3, 2), Story::absent());
  story.created(2, 2, 4);
  story.appended(2, 3, 4, 1);
  story.read_shows(3, 3, 4, {{2, 3}});
  EXPECT_EQ(story.finish().count(), 0u);
}

TEST_F(HistoryOfAStream, AnAcknowledgedAppendThatTheFinalReadLacksIsLost) {
  story.appended(1, 2, 1, 1);
  story.appended(1, 3, 1, 2);
  Request last = Story::read(9, 1);
  last.final = true;
  story.tell(last, story.shows(1, 1, std::vector<RecordId>{{1, 2}}));
  expect_wrong_in_the_end(Invariant::kNothingLost,
                          {"stream s", "read c9#1", "at most generation 1 with 1 messages",
                           "at least generation 1 with 2 messages", "append c1#3"});
}

TEST_F(HistoryOfAStream, AnAcknowledgedAppendInWhosePlaceAnotherIsShownIsLost) {
  OpRef unanswered = story.begin(Story::append(2, 1));
  story.appended(1, 2, 1, 1);
  story.end(unanswered, Story::unknown());
  story.read_shows(3, 1, 1, {{2, 1}});
  expect_wrong(Invariant::kNothingLost,
               {"message 0 is record c1#2", "but is record c2#1", "read c3#1"});
}

TEST_F(HistoryOfAStream, AReadThatBeginsAfterAnAcknowledgementShowsTheAppend) {
  OpRef early = story.begin(Story::read(2, 1));
  story.appended(1, 2, 1, 1);
  story.end(early, story.shows(1, 0, Story::kNothing));  // it began before: fine
  EXPECT_EQ(story.so_far().count(), 0u);
  story.tell(Story::read(2, 2), story.shows(1, 0, Story::kNothing));
  expect_wrong(Invariant::kLinearizable,
               {"read c2#2", "append c1#2", "at least generation 1 with 1 messages"});
}

TEST_F(HistoryOfAStream, WhatOneReadHasShownALaterOneShowsToo) {
  OpRef append = story.begin(Story::append(1, 2));
  story.read_shows(2, 1, 1, {{1, 2}});
  story.tell(Story::head(3, 1), Story::ok(1, 0));
  expect_wrong(Invariant::kLinearizable, {"head c3#1", "read c2#1"});
  story.end(append, Story::ok(1, 1));
}

TEST_F(HistoryOfAStream, TwoAppendsDoNotShareAnOffset) {
  OpRef one = story.begin(Story::append(1, 2));
  OpRef other = story.begin(Story::append(2, 1));
  story.end(one, Story::ok(1, 1));
  story.end(other, Story::ok(1, 1));
  expect_wrong(Invariant::kNothingTwice, {"message 0 is record c1#2", "record c2#1"});
}

TEST_F(HistoryOfAStream, AnAppendIsNotAcknowledgedAtAnOffsetThatTheStreamHadPassed) {
  story.appended(1, 2, 1, 5);
  story.tell(Story::append(2, 1), Story::ok(1, 3));
  expect_wrong(Invariant::kNothingTwice,
               {"append c2#1", "at most generation 1 with 2 messages", "append c1#2"});
}

TEST_F(HistoryOfAStream, ARecordThatIsShownTwiceIsDoubled) {
  story.tell(Story::append(1, 2), Story::unknown());
  story.read_shows(2, 1, 1, {{1, 2}, {1, 2}});
  expect_wrong(Invariant::kNothingTwice, {"record c1#2 lies at 0 and again at 1", "read c2#1"});
}

TEST_F(HistoryOfAStream, ARecordOfAnEarlierGenerationDoesNotComeBack) {
  story.appended(1, 2, 1, 1);
  story.tell(Story::remove(1, 3), Story::ok(1, 0));
  story.created(1, 4, 2);
  story.read_shows(2, 1, 2, {{1, 2}});
  expect_wrong_in_the_end(Invariant::kNothingTwice, {"record c1#2 is in generations 1 and 2"});
}

TEST(StreamHistory, ARetriedProducerAppendIsInTheStreamOnce) {
  for (bool doubled : {false, true}) {
    Story story;
    story.created(1, 1, 1);
    Request append = Story::append(1, 2);
    append.producer = {"p", 0, 0};
    story.tell(append, Story::unknown());
    append.number = 3;
    Response response = Story::ok(1, doubled ? 2 : 1);
    response.duplicate = !doubled;
    response.highest_seq = 0;
    story.tell(append, response);
    if (doubled) {
      story.read_shows(2, 1, 1, {{1, 2}, {1, 2}});
      EXPECT_EQ(mismatch(story.finish(), Invariant::kNothingTwice, Words{"record c1#2"}), "");
    } else {
      story.read_shows(2, 1, 1, {{1, 2}});
      EXPECT_EQ(story.finish().count(), 0u);
    }
  }
}

TEST_F(HistoryOfAStream, ADuplicateThatWasNeverThereIsLost) {
  Request append = Story::append(1, 2);
  append.producer = {"p", 0, 0};
  story.tell(append, Story::unknown());
  append.number = 3;
  Response response = Story::ok(1, 1);
  response.duplicate = true;
  response.highest_seq = 0;
  story.tell(append, response);
  Request last = Story::read(9, 1);
  last.final = true;
  story.tell(last, story.shows(1, 0, Story::kNothing));
  expect_wrong_in_the_end(Invariant::kNothingLost, {"append c1#3", "read c9#1"});
}

TEST_F(HistoryOfAStream, AProducersRecordsLieInTheOrderOfItsNumbers) {
  for (uint32_t seq : {0U, 2U}) {
    Request append = Story::append(1, 2 + seq);
    append.producer = {"p", 0, seq};
    story.tell(append, Story::unknown());
  }
  story.read_shows(2, 1, 1, {{1, 2}, {1, 4}});
  expect_wrong_in_the_end(Invariant::kNothingTwice,
                          {"producer p's record c1#4 (epoch 0 seq 2)", "follows its record c1#2"});
}

TEST_F(HistoryOfAStream, AStreamDoesNotVanishWithoutADelete) {
  story.tell(Story::read(2, 1), Story::absent());
  expect_wrong_in_the_end(Invariant::kLinearizable,
                          {"generation 1 was gone by read c2#1", "there was none"});
}

TEST_F(HistoryOfAStream, ADeleteWithoutAnswerExplainsThatTheStreamIsGone) {
  story.tell(Story::remove(1, 2), Story::unknown());
  story.tell(Story::read(2, 1), story.shows(1, 0, Story::kNothing));
  story.tell(Story::read(2, 2), Story::absent());
  expect_nothing_wrong_in_the_end();
}

TEST_F(HistoryOfAStream, OneDeleteDoesNotEndTwoGenerations) {
  story.tell(Story::remove(1, 2), Story::unknown());
  story.tell(Story::read(2, 1), Story::absent());
  story.created(1, 3, 2);
  story.tell(Story::read(2, 2), Story::absent());
  expect_wrong_in_the_end(Invariant::kLinearizable,
                          {"was gone by", "no delete of its own", "delete c1#2"});
}

TEST_F(HistoryOfAStream, AnAcknowledgedDeleteStaysDone) {
  Response done;
  done.outcome = Outcome::kOk;
  done.status = 204;
  story.tell(Story::remove(1, 2), done);
  story.read_shows(2, 1, 1, {});
  expect_wrong_in_the_end(Invariant::kLinearizable,
                          {"delete c1#2", "no generation can have ended by it", "read c2#1"});
}

TEST_F(HistoryOfAStream, AStreamThatIsThereIsNotAbsentBefore) {
  story.tell(Story::create(2, 1), Story::ok(2, 0));
  expect_wrong_in_the_end(Invariant::kLinearizable, {"generation 1 was gone"});
}

TEST(StreamHistory, AGenerationIsNotCreatedTwice) {
  Story story;
  OpRef one = story.begin(Story::create(1, 1));
  OpRef other = story.begin(Story::create(2, 1));
  story.end(one, Story::ok(1, 0));
  story.end(other, Story::ok(1, 0));
  EXPECT_EQ(mismatch(story.finish(), Invariant::kLinearizable,
                     Words{"generation 1 was created twice", "create c1#1", "create c2#1"}),
            "");
}

TEST(StreamHistory, NothingExistsThatNobodyCreated) {
  Story story;
  story.tell(Story::head(1, 1), Story::ok(1, 0));
  EXPECT_EQ(mismatch(story.finish(), Invariant::kLinearizable, Words{"nobody can have created it"}),
            "");
}

TEST(StreamHistory, AnUnansweredAppendMayAppearLaterButNotBeforeItWasSent) {
  Story late;
  late.created(1, 1, 1);
  late.tell(Story::append(1, 2), Story::unknown());
  late.read_shows(2, 1, 1, {});
  late.read_shows(2, 2, 1, {{1, 2}});
  EXPECT_EQ(late.finish().count(), 0u);

  Story early;
  early.created(1, 1, 1);
  early.appended(1, 2, 1, 2);
  early.tell(Story::append(2, 1), Story::unknown());
  early.read_shows(3, 1, 1, {{2, 1}, {1, 2}});
  EXPECT_EQ(mismatch(early.finish(), Invariant::kLinearizable,
                     Words{"append c2#1", "at most generation 1 with 0 messages", "append c1#2"}),
            "");
}

TEST_F(HistoryOfAStream, WhatWasRefusedDoesNotAppear) {
  story.tell(Story::append(1, 2), Story::refused(409));
  story.read_shows(2, 1, 1, {{1, 2}});
  expect_wrong(Invariant::kLinearizable, {"read c2#1 ", "record c1#2", "was refused: append c1#2"});
}

TEST_F(HistoryOfAStream, WhatNobodySentDoesNotAppear) {
  story.read_shows(2, 1, 1, {{7, 7}});
  expect_wrong(Invariant::kNothingLost, {"record c7#7", "nobody has sent to this stream"});
}

TEST_F(HistoryOfAStream, DamagedBytesAreSeen) {
  story.appended(1, 2, 1, 1);
  Response response = story.shows(1, 1, std::vector<RecordId>{{1, 2}});
  std::string body(response.body);
  body[70] ^= 1;
  response.body = body;
  story.tell(Story::read(2, 1), response);
  expect_wrong(Invariant::kNothingLost, {"damaged", "read c2#1", "no intact message at byte 0"});
}

TEST_F(HistoryOfAStream, AnAppendIsShownWholeOrNotAtAll) {
  story.tell(Story::append(1, 2, 2), Story::unknown());
  story.tell(Story::read(2, 1),
             story.shows(1, 1, std::vector<Message>{{{1, 2}, 0, 2, kStoryBytes}}));
  expect_wrong(Invariant::kLinearizable, {"ends within record c1#2"});
}

TEST_F(HistoryOfAStream, AMessageCountHasOneBytePosition) {
  story.appended(1, 2, 1, 1);
  Response response = Story::ok(1, 1);
  response.next->bytes += 1;
  story.tell(Story::head(2, 1), response);
  expect_wrong(Invariant::kNothingTwice,
               {"offset 1_101 by head c2#1", "but 1_100", "one byte position"});
}

TEST_F(HistoryOfAStream, AReadGoesOnWhereItWasAskedTo) {
  story.appended(1, 2, 1, 1);
  story.appended(1, 3, 1, 2);
  story.appended(1, 4, 1, 3);
  Request from = Story::read(2, 1);
  from.from = KnownOffset{offset_of(1), 1};
  story.tell(from, story.shows(1, 3, std::vector<RecordId>{{1, 4}}));
  expect_wrong(Invariant::kLinearizable,
               {"read c2#1 from 1_100", "shows 1 messages", "began at 1"});
}

TEST_F(HistoryOfAStream, AnOffsetStaysOneForTheLifeOfItsGeneration) {
  story.appended(1, 2, 1, 1);
  Request from = Story::read(2, 1);
  from.from = KnownOffset{offset_of(1), 1};
  Response refused = Story::refused(400);
  refused.bad_offset = true;
  story.tell(from, refused);
  expect_wrong_in_the_end(Invariant::kLinearizable, {"generation 1 was gone by read c2#1"});
}

TEST_F(HistoryOfAStream, AConditionalAppendHappensAtItsOffsetOnly) {
  story.appended(1, 2, 1, 1);
  Request append = Story::append(2, 1);
  append.expected = KnownOffset{offset_of(0), 1};
  story.tell(append, Story::ok(1, 2));
  expect_wrong(Invariant::kLinearizable, {"append c2#1", "at tail 0_0", "but was put at 1"});
  Request fits = Story::append(2, 2);
  fits.expected = KnownOffset{offset_of(2), 1};
  Response refused = Story::refused(409);
  refused.offset_mismatch = true;
  refused.next = offset_of(2);
  story.tell(fits, refused);
  EXPECT_NE(story.so_far().kept().back().message.find("although that is the tail"),
            std::string::npos);
}

}  // namespace
}  // namespace morula::invariants
