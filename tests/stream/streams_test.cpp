// What each operation answers.
#include <gtest/gtest.h>

#include "core/log/log_writer.hpp"
#include "core/stream/offset.hpp"
#include "tests/stream/streams_fixture.hpp"

namespace morula {
namespace {

// --- Create ---

TEST_F(StreamsTest, AStreamBeginsEmptyOrWithItsFirstContent) {
  run([&] {
    auto created = std::get<Created>(streams_->create(create_request()));
    EXPECT_FALSE(created.existed);
    EXPECT_EQ(created.info.tail, Offset{});
    EXPECT_EQ(created.info.generation, Generation(1));
    EXPECT_EQ(created.info.content_type, "text/plain");
    EXPECT_EQ(read_all(), "");
    ASSERT_TRUE(std::holds_alternative<Removed>(streams_->remove(kStream)));
    created = std::get<Created>(streams_->create(create_request("text/plain", "first")));
    EXPECT_EQ(created.info.tail, (Offset{1, 5}));
    EXPECT_EQ(read_all(), "first");
  });
}

TEST_F(StreamsTest, CreatingAgainChangesNothing) {
  run([&] {
    streams_->create(create_request("text/plain; charset=utf-8", "first"));
    const auto again = std::get<Created>(streams_->create(create_request("TEXT/plain", "second")));
    EXPECT_TRUE(again.existed);
    EXPECT_EQ(again.info.content_type, "text/plain; charset=utf-8");
    EXPECT_EQ(again.info.tail, (Offset{1, 5}));
    EXPECT_EQ(read_all(), "first");
    EXPECT_EQ(rows_->log().size(), 1u);
  });
}

TEST_F(StreamsTest, CreatingWithAnotherConfigurationIsRefused) {
  run([&] {
    CreateRequest with_ttl = create_request();
    with_ttl.expiry = *Expiry::parse_ttl("60");
    streams_->create(with_ttl);
    EXPECT_EQ(refusal(streams_->create(create_request("text/html"))), Refusal::kExists);
    EXPECT_EQ(refusal(streams_->create(create_request())), Refusal::kExists);
    EXPECT_TRUE(std::get<Created>(streams_->create(with_ttl)).existed);
    forget();
    EXPECT_TRUE(std::get<Created>(streams_->create(with_ttl)).existed);
    with_ttl.expiry = *Expiry::parse_ttl("61");
    EXPECT_EQ(refusal(streams_->create(with_ttl)), Refusal::kExists);
  });
}

TEST_F(StreamsTest, AContentTypeThatHasNoCodeIsKeptAsItWasGiven) {
  run([&] {
    streams_->create(create_request("Image/PNG; a=b", "x"));
    forget();
    EXPECT_EQ(std::get<StreamInfo>(streams_->head(kStream)).content_type, "Image/PNG; a=b");
    EXPECT_TRUE(
        std::holds_alternative<Appended>(streams_->append(append_request("y", "image/png"))));
    EXPECT_EQ(refusal(streams_->create(create_request("nonsense"))), Refusal::kInvalidContentType);
  });
}

TEST_F(StreamsTest, AColdAppendNeedsOneRow) {
  run([&] {
    streams_->create(create_request());
    forget();
    streams_->append(append_request("x"));
    EXPECT_EQ(rows_->finds, 2u) << "one by the create, one by the append";
    EXPECT_EQ(rows_->scans, 0u);
    streams_->append(append_request("y"));
    EXPECT_EQ(rows_->finds, 2u);
  });
}

// --- Append and read ---

TEST_F(StreamsTest, AppendsFollowEachOtherAndAreReadFromAnyOfTheirOffsets) {
  run([&] {
    streams_->create(create_request());
    EXPECT_EQ(std::get<Appended>(streams_->append(append_request("one"))).tail, (Offset{1, 3}));
    EXPECT_EQ(std::get<Appended>(streams_->append(append_request("three"))).tail, (Offset{2, 8}));
    EXPECT_EQ(read_all(), "onethree");
    const auto answer = std::get<ReadAnswer>(streams_->read(read_from(Offset{1, 3})));
    EXPECT_EQ(answer.body, "three");
    EXPECT_EQ(answer.start, (Offset{1, 3}));
    EXPECT_EQ(answer.end, (Offset{2, 8}));
    EXPECT_TRUE(answer.up_to_date);
    const auto at_tail = std::get<ReadAnswer>(streams_->read(read_from(Offset{2, 8})));
    EXPECT_EQ(at_tail.body, "");
    EXPECT_EQ(at_tail.end, (Offset{2, 8}));
    EXPECT_TRUE(at_tail.up_to_date);
  });
}

TEST_F(StreamsTest, AReadStopsAtItsBoundAndGoesOnWhereItStopped) {
  limits_.read_bytes_max = 20;
  run([&] {
    streams_->create(create_request());
    std::string written;
    for (int i = 0; i < 10; ++i) {
      written += "message" + std::to_string(i);
      streams_->append(append_request("message" + std::to_string(i)));
    }
    std::string seen;
    int reads = 0;
    for (Offset at; reads < 20;) {
      const auto answer = std::get<ReadAnswer>(streams_->read(read_from(at)));
      ++reads;
      seen += answer.body;
      EXPECT_LT(answer.body.size(), 30u);
      EXPECT_EQ(answer.up_to_date, answer.end == tail());
      at = answer.end;
      if (answer.up_to_date) break;
    }
    EXPECT_EQ(seen, written);
    EXPECT_EQ(reads, 5);
  });
}

TEST_F(StreamsTest, AnOffsetMustLieBetweenTwoMessagesOfTheStream) {
  run([&] {
    streams_->create(create_request("application/json", R"([10, 200])"));
    streams_->append(append_request("[3,4,5]", "application/json"));
    const auto body = [&](Offset offset) {
      const ReadOutcome outcome = streams_->read(read_from(offset));
      const auto* answer = std::get_if<ReadAnswer>(&outcome);
      EXPECT_TRUE(answer || refusal(outcome) == Refusal::kInvalidOffset);
      return answer ? answer->body : "refused";
    };
    EXPECT_EQ(body({0, 0}), "[10,200,3,4,5]");
    EXPECT_EQ(body({1, 2}), "[200,3,4,5]");
    EXPECT_EQ(body({2, 5}), "[3,4,5]");
    EXPECT_EQ(body({4, 7}), "[5]");
    EXPECT_EQ(body({5, 8}), "[]");
    for (const Offset offset :
         {Offset{0, 1}, Offset{1, 1}, Offset{1, 3}, Offset{2, 2}, Offset{2, 6}, Offset{3, 5},
          Offset{5, 7}, Offset{4, 100}, Offset{5, 9}, Offset{6, 9}, Offset{9, 0}}) {
      EXPECT_EQ(body(offset), "refused") << offset_text(offset);
    }
  });
}

TEST_F(StreamsTest, FromTheTailOnlyTheTailIsToldAndNothingIsRead) {
  run([&] {
    streams_->create(create_request("application/json", "[1,2]"));
    ReadRequest request = read_from();
    request.from = ReadRequest::From::kTail;
    const auto answer = std::get<ReadAnswer>(streams_->read(request));
    EXPECT_EQ(answer.body, "[]");
    EXPECT_EQ(answer.end, (Offset{2, 2}));
    EXPECT_TRUE(answer.up_to_date);
    EXPECT_EQ(rows_->scans, 0u);
  });
}

TEST_F(StreamsTest, AnAppendIsRefusedForWhatIsWrongWithIt) {
  limits_.append_bytes_max = 10;
  run([&] {
    EXPECT_EQ(refusal(streams_->append(append_request("x"))), Refusal::kAbsent);
    streams_->create(create_request());
    EXPECT_EQ(refusal(streams_->append(append_request(""))), Refusal::kEmptyAppend);
    EXPECT_EQ(refusal(streams_->append(append_request("12345678901"))), Refusal::kTooLarge);
    EXPECT_EQ(refusal(streams_->append(append_request("x", "text/html"))),
              Refusal::kContentTypeMismatch);
    EXPECT_EQ(refusal(streams_->append(append_request("x", "text"))), Refusal::kInvalidContentType);
    EXPECT_EQ(refusal(streams_->create(create_request("text/plain", "12345678901"))),
              Refusal::kTooLarge);
    EXPECT_TRUE(std::holds_alternative<Appended>(streams_->append(append_request("1234567890"))));
    EXPECT_EQ(rows_->log().size(), 2u) << "the create and the last append";
  });
}

TEST_F(StreamsTest, AJsonStreamTakesOnlyJsonAndNoEmptyBatch) {
  run([&] {
    EXPECT_EQ(refusal(streams_->create(create_request("application/json", "{"))),
              Refusal::kInvalidJson);
    EXPECT_EQ(
        std::get<Created>(streams_->create(create_request("application/json", " [] "))).info.tail,
        Offset{});
    EXPECT_EQ(read_all(), "[]");
    EXPECT_EQ(refusal(streams_->append(append_request("[]", "application/json"))),
              Refusal::kInvalidJson);
    EXPECT_EQ(refusal(streams_->append(append_request("[1,]", "application/json"))),
              Refusal::kInvalidJson);
    EXPECT_EQ(refusal(streams_->append(append_request("[1]", "text/plain"))),
              Refusal::kContentTypeMismatch);
    EXPECT_EQ(std::get<Appended>(
                  streams_->append(append_request("[ {\"a\": 1}, [2] ]", "application/json")))
                  .tail,
              (Offset{2, 11}));
    EXPECT_EQ(read_all(), R"([{"a": 1},[2]])");
  });
}

TEST_F(StreamsTest, TheLargestAppendFitsARecordOfTheLog) {
  run([&] {
    CreateRequest request = create_request("application/json");
    const std::string path(limits_.path_bytes_max, 'p');
    request.path = path;
    request.expiry = *Expiry::parse_at("2030-01-01T00:00:00Z");
    // Messages of 128 bytes need the most room for their lengths.
    std::string body = "[";
    while (body.size() + 130 <= limits_.append_bytes_max) {
      body += "\"" + std::string(126, 'x') + "\",";
    }
    body.back() = ']';
    request.body = body;
    EXPECT_TRUE(std::holds_alternative<Created>(streams_->create(request)));
    uint64_t bytes = 0;
    for (const Row& row : rows_->log().front().rows) bytes += row.key.size() + row.value.size();
    EXPECT_GT(bytes, 4 * kMiB);
    EXPECT_LT(bytes + kKiB, LogConfig().record_bytes_max);
  });
}

// --- Conditions ---

TEST_F(StreamsTest, AnExpectedOffsetMustBeTheTail) {
  run([&] {
    streams_->create(create_request());
    AppendRequest request = append_request("x");
    request.expected_offset = Offset{};
    EXPECT_TRUE(std::holds_alternative<Appended>(streams_->append(request)));
    const AppendOutcome outcome = streams_->append(request);
    ASSERT_EQ(refusal(outcome), Refusal::kOffsetMismatch);
    EXPECT_EQ(std::get<Refused>(outcome).tail, (Offset{1, 1}));
    EXPECT_EQ(read_all(), "x");
  });
}

TEST_F(StreamsTest, AStreamSeqMustGrowBytewise) {
  run([&] {
    streams_->create(create_request());
    const auto append = [&](std::string sequence) {
      AppendRequest request = append_request("x");
      request.sequence = std::move(sequence);
      return refusal(streams_->append(request));
    };
    EXPECT_EQ(append("2"), std::nullopt);
    EXPECT_EQ(append("2"), Refusal::kSequenceRegression);
    EXPECT_EQ(append("10"), Refusal::kSequenceRegression) << "bytewise, not as numbers";
    EXPECT_EQ(append("a"), std::nullopt);
    EXPECT_EQ(append("B"), Refusal::kSequenceRegression);
    EXPECT_TRUE(std::holds_alternative<Appended>(streams_->append(append_request("y"))));
    forget();
    EXPECT_EQ(append("a"), Refusal::kSequenceRegression);
    EXPECT_EQ(append("\xff"), std::nullopt) << "bytes are unsigned";
    EXPECT_EQ(read_all(), "xxyx");
    streams_->remove(kStream);
    streams_->create(create_request());
    EXPECT_EQ(append("0"), std::nullopt);
  });
}

// --- Producers ---

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

// --- Delete and expiry ---

TEST_F(StreamsTest, WhatIsDeletedIsGoneAndNeverShowsAgain) {
  run([&] {
    EXPECT_EQ(refusal(streams_->remove(kStream)), Refusal::kAbsent);
    streams_->create(create_request("text/plain", "old"));
    streams_->append(append_by("p", 0, 0, "old"));
    EXPECT_TRUE(std::holds_alternative<Removed>(streams_->remove(kStream)));
    for (int round = 0; round < 2; ++round) {
      EXPECT_EQ(refusal(streams_->remove(kStream)), Refusal::kAbsent);
      EXPECT_EQ(refusal(streams_->read(read_from())), Refusal::kAbsent);
      EXPECT_EQ(refusal(streams_->head(kStream)), Refusal::kAbsent);
      EXPECT_EQ(refusal(streams_->append(append_request("x"))), Refusal::kAbsent);
      forget();
    }
    const auto created = std::get<Created>(streams_->create(create_request("text/html")));
    EXPECT_EQ(created.info.generation, Generation(2));
    EXPECT_EQ(created.info.tail, Offset{});
    EXPECT_EQ(read_all(), "");
    EXPECT_EQ(refusal(streams_->append(append_by("p", 0, 1, "x"))), Refusal::kContentTypeMismatch);
    AppendRequest request = append_by("p", 0, 0, "new");
    request.content_type = "text/html";
    EXPECT_FALSE(std::get<Appended>(streams_->append(request)).duplicate);
    EXPECT_EQ(read_all(), "new");
  });
}

TEST_F(StreamsTest, AGenerationIsAboveTheShardsMark) {
  run([&] {
    rows_->mark = Generation(41);
    EXPECT_EQ(std::get<Created>(streams_->create(create_request())).info.generation,
              Generation(42));
  });
}

TEST_F(StreamsTest, AStreamPastItsDeadlineIsGoneAndMayBeCreatedAgain) {
  run([&] {
    CreateRequest request = create_request("text/plain", "old");
    request.expiry = *Expiry::parse_ttl("10");
    EXPECT_EQ(std::get<Created>(streams_->create(request)).info.remaining_ms, 10'000u);
    rows_->wall_time.ms += 9'999;
    EXPECT_EQ(std::get<StreamInfo>(streams_->head(kStream)).remaining_ms, 1u);
    EXPECT_EQ(read_all(), "old");
    rows_->wall_time.ms += 1;
    for (int round = 0; round < 2; ++round) {
      EXPECT_EQ(refusal(streams_->head(kStream)), Refusal::kAbsent);
      EXPECT_EQ(refusal(streams_->append(append_request("x"))), Refusal::kAbsent);
      EXPECT_EQ(refusal(streams_->remove(kStream)), Refusal::kAbsent);
      forget();
    }
    const auto again = std::get<Created>(streams_->create(request));
    EXPECT_FALSE(again.existed);
    EXPECT_EQ(again.info.generation, Generation(2));
    EXPECT_EQ(again.info.remaining_ms, 10'000u);
  });
}

TEST_F(StreamsTest, AStreamMayBeCreatedPastItsDeadline) {
  run([&] {
    CreateRequest request = create_request();
    request.expiry = *Expiry::parse_at("1970-01-01T00:00:01Z");
    EXPECT_EQ(std::get<Created>(streams_->create(request)).info.remaining_ms, 0u);
    EXPECT_EQ(refusal(streams_->head(kStream)), Refusal::kAbsent);
  });
}

// --- Other paths, damage, failing stores ---

TEST_F(StreamsTest, AnotherPathWithTheSameIdIsAnErrorAndSeesNothing) {
  run([&] {
    streams_->create(create_request("text/plain", "secret"));
    StreamHash other = kStream;
    other.check ^= 1;
    for (int round = 0; round < 2; ++round) {
      CreateRequest create = create_request();
      create.stream = other;
      AppendRequest append = append_request("x");
      append.stream = other;
      ReadRequest read = read_from();
      read.stream = other;
      EXPECT_EQ(refusal(streams_->create(create)), Refusal::kCollision);
      EXPECT_EQ(refusal(streams_->append(append)), Refusal::kCollision);
      EXPECT_EQ(refusal(streams_->read(read)), Refusal::kCollision);
      EXPECT_EQ(refusal(streams_->head(other)), Refusal::kCollision);
      EXPECT_EQ(refusal(streams_->remove(other)), Refusal::kCollision);
      forget();
    }
    EXPECT_EQ(read_all(), "secret");
  });
}

TEST_F(StreamsTest, DamagedAndMissingRowsAreErrorsAndNotEmptyStreams) {
  run([&] {
    streams_->create(create_request("text/plain", "first"));
    rows_->damage(Tree::kData, "\x01");
    EXPECT_EQ(unserved(streams_->read(read_from())), ErrorCode::kCorrupt);
    rows_->erase_data();
    EXPECT_EQ(unserved(streams_->read(read_from())), ErrorCode::kCorrupt);
    EXPECT_TRUE(std::holds_alternative<Appended>(streams_->append(append_request("second"))));
    EXPECT_EQ(unserved(streams_->read(read_from())), ErrorCode::kCorrupt)
        << "the row before the only one is missing";
    EXPECT_EQ(std::get<ReadAnswer>(streams_->read(read_from(Offset{1, 5}))).body, "second");
    rows_->damage(Tree::kMeta, "");
    forget();
    EXPECT_EQ(unserved(streams_->head(kStream)), ErrorCode::kCorrupt);
    EXPECT_EQ(unserved(streams_->append(append_request("x"))), ErrorCode::kCorrupt);
  });
}

TEST_F(StreamsTest, AStoreThatFailsOnceIsAskedAgain) {
  run([&] {
    streams_->create(create_request("image/png", "x"));
    forget();
    rows_->fail_next = Error{ErrorCode::kUnavailable, "away"};
    EXPECT_EQ(unserved(streams_->read(read_from())), ErrorCode::kUnavailable);
    EXPECT_EQ(read_all(), "x");
    rows_->fail_next = Error{ErrorCode::kBusy, "full"};
    EXPECT_EQ(unserved(streams_->append(append_request("y", "image/png"))), ErrorCode::kBusy);
    EXPECT_EQ(unserved(streams_->append(append_request("y", "image/png"))), std::nullopt);
  });
}

}  // namespace
}  // namespace morula
