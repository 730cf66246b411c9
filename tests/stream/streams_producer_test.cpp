// Idempotent producers: each append once, in order.
#include <gtest/gtest.h>

#include "tests/stream/streams_fixture.hpp"

namespace morula {
namespace {

TEST_F(StreamsTest, AProducersAppendsAreTakenOnceAndInOrder) {
  run([&] {
    streams_->create(create_request());
    const auto first = std::get<Appended>(streams_->append(append_by("p", 0, 0, "a")));
    EXPECT_FALSE(first.duplicate);
    EXPECT_EQ(first.producer_seq, 0u);
    for (int round = 0; round < 2; ++round) {
      const auto again = std::get<Appended>(streams_->append(append_by("p", 0, 0, "a")));
      EXPECT_TRUE(again.duplicate);
      EXPECT_EQ(again.tail, first.tail);
      const AppendOutcome gap = streams_->append(append_by("p", 0, 2, "c"));
      ASSERT_EQ(refusal(gap), Refusal::kSequenceGap);
      EXPECT_EQ(std::get<Refused>(gap).expected_seq, 1u);
      forget();
    }
    EXPECT_FALSE(std::get<Appended>(streams_->append(append_by("p", 0, 1, "b"))).duplicate);
    EXPECT_EQ(refusal(streams_->append(append_by("q", 0, 1, "x"))), Refusal::kSequenceGap);
    EXPECT_FALSE(std::get<Appended>(streams_->append(append_by("q", 3, 0, "q"))).duplicate);
    EXPECT_EQ(read_all(), "abq");
  });
}

TEST_F(StreamsTest, ADuplicateTellsTheHighestAcceptedSeqAndItsTail) {
  run([&] {
    streams_->create(create_request());
    streams_->append(append_by("p", 0, 0, "a"));
    streams_->append(append_by("p", 0, 1, "bb"));
    streams_->append(append_request("other"));
    const auto duplicate = std::get<Appended>(streams_->append(append_by("p", 0, 0, "a")));
    EXPECT_TRUE(duplicate.duplicate);
    EXPECT_EQ(duplicate.producer_epoch, 0u);
    EXPECT_EQ(duplicate.producer_seq, 1u);
    EXPECT_EQ(duplicate.tail, (Offset{2, 3}));
  });
}

TEST_F(StreamsTest, ALaterEpochFencesTheEarlierOne) {
  run([&] {
    streams_->create(create_request());
    streams_->append(append_by("p", 0, 0, "a"));
    EXPECT_EQ(refusal(streams_->append(append_by("p", 1, 1, "x"))), Refusal::kEpochNotAtZero);
    EXPECT_FALSE(std::get<Appended>(streams_->append(append_by("p", 2, 0, "b"))).duplicate);
    for (int round = 0; round < 2; ++round) {
      const AppendOutcome zombie = streams_->append(append_by("p", 0, 1, "x"));
      ASSERT_EQ(refusal(zombie), Refusal::kStaleEpoch);
      EXPECT_EQ(std::get<Refused>(zombie).producer_epoch, 2u);
      forget();
    }
    EXPECT_EQ(read_all(), "ab");
  });
}

TEST_F(StreamsTest, ADuplicateIsToldBeforeTheConditionsOfTheOriginalAreChecked) {
  run([&] {
    streams_->create(create_request());
    AppendRequest request = append_by("p", 0, 0, "a");
    request.sequence = "s";
    request.expected_offset = Offset{};
    EXPECT_FALSE(std::get<Appended>(streams_->append(request)).duplicate);
    EXPECT_TRUE(std::get<Appended>(streams_->append(request)).duplicate);
  });
}

TEST_F(StreamsTest, ARefusedAppendDoesNotMoveItsProducer) {
  run([&] {
    streams_->create(create_request());
    AppendRequest request = append_by("p", 0, 0, "a");
    request.expected_offset = Offset{9, 9};
    EXPECT_EQ(refusal(streams_->append(request)), Refusal::kOffsetMismatch);
    request.expected_offset = std::nullopt;
    EXPECT_FALSE(std::get<Appended>(streams_->append(request)).duplicate);
  });
}

TEST_F(StreamsTest, MoreProducersThanAreCachedAreStillKnown) {
  limits_.cached_producers_max = 2;
  run([&] {
    streams_->create(create_request());
    for (int i = 0; i < 5; ++i) {
      streams_->append(append_by(std::to_string(i).c_str(), 0, 0, "x"));
    }
    for (int i = 0; i < 5; ++i) {
      EXPECT_TRUE(
          std::get<Appended>(streams_->append(append_by(std::to_string(i).c_str(), 0, 0, "x")))
              .duplicate);
    }
  });
}

}  // namespace
}  // namespace morula
