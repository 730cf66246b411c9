// What each operation answers: create, head and delete, and all of them when something is wrong.
#include <gtest/gtest.h>

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
    ASSERT_TRUE(std::holds_alternative<Removed>(streams_->remove({kStream, "default", kPath})));
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

// --- Delete and expiry ---

TEST_F(StreamsTest, WhatIsDeletedIsGoneAndNeverShowsAgain) {
  run([&] {
    EXPECT_EQ(refusal(streams_->remove({kStream, "default", kPath})), Refusal::kAbsent);
    streams_->create(create_request("text/plain", "old"));
    streams_->append(append_by("p", 0, 0, "old"));
    EXPECT_TRUE(std::holds_alternative<Removed>(streams_->remove({kStream, "default", kPath})));
    for (int round = 0; round < 2; ++round) {
      EXPECT_EQ(refusal(streams_->remove({kStream, "default", kPath})), Refusal::kAbsent);
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
    rows_->wall_time.ms += 1;
    for (int round = 0; round < 2; ++round) {
      EXPECT_EQ(refusal(streams_->head(kStream)), Refusal::kAbsent);
      EXPECT_EQ(refusal(streams_->append(append_request("x"))), Refusal::kAbsent);
      EXPECT_EQ(refusal(streams_->remove({kStream, "default", kPath})), Refusal::kAbsent);
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
      EXPECT_EQ(refusal(streams_->remove({other, "default", kPath})), Refusal::kCollision);
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
