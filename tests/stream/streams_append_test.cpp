// What an append and a read answer.
#include <gtest/gtest.h>

#include "core/log/log_writer.hpp"
#include "core/stream/offset.hpp"
#include "tests/stream/streams_fixture.hpp"

namespace morula {
namespace {

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
    streams_->remove({kStream, "default", kPath});
    streams_->create(create_request());
    EXPECT_EQ(append("0"), std::nullopt);
  });
}

}  // namespace
}  // namespace morula
