// Listing the streams of one shard.
#include <gtest/gtest.h>

#include "tests/stream/streams_fixture.hpp"

namespace morula {
namespace {

class ListTest : public StreamsTest {
 protected:
  static StreamHash hash_of(std::string_view path) {
    uint64_t hash = 7;
    for (const char c : path) hash = hash * 1099511628211u + static_cast<unsigned char>(c);
    return {{hash, hash * 3}, hash * 5};
  }
  Generation create(std::string_view path, Expiry expiry = {}, std::string_view tenant = "t",
                    std::string content_type = "text/plain") {
    const auto outcome = streams_->create(
        {hash_of(path), tenant, path, std::move(content_type), std::move(expiry), {}});
    EXPECT_TRUE(std::holds_alternative<Created>(outcome));
    return std::get<Created>(outcome).info.generation;
  }
  void remove(std::string_view path) {
    EXPECT_TRUE(std::holds_alternative<Removed>(streams_->remove({hash_of(path), "t", path})));
  }
  Listed list(std::string_view prefix = {}, std::string_view after = {}, size_t limit = 100,
              std::string_view tenant = "t") {
    auto outcome = streams_->list({{}, tenant, prefix, after, limit});
    EXPECT_TRUE(std::holds_alternative<Listed>(outcome));
    return std::get<Listed>(std::move(outcome));
  }
  using Paths = std::vector<std::string>;
  static Paths paths(const Listed& listed) {
    Paths paths;
    for (const ListedStream& stream : listed.streams) paths.push_back(stream.path);
    return paths;
  }
  static Expiry ttl(uint64_t seconds) { return {Expiry::Kind::kTtl, seconds, {}, {}}; }
};

TEST_F(ListTest, StreamsOfTheTenantAreListedByPath) {
  run([&] {
    for (const char* path : {"b/2", "a", "b/1", "b", "c"}) create(path);
    create("b/3", {}, "other");
    EXPECT_EQ(paths(list()), (Paths{"a", "b", "b/1", "b/2", "c"}));
    EXPECT_EQ(paths(list("b/")), (Paths{"b/1", "b/2"}));
    EXPECT_EQ(paths(list("", "b/1")), (Paths{"b/2", "c"}));
    EXPECT_EQ(paths(list("b", "b")), (Paths{"b/1", "b/2"}));
    EXPECT_EQ(paths(list("b/", "a")), (Paths{"b/1", "b/2"}));
    EXPECT_EQ(paths(list("x")), Paths{});
    EXPECT_EQ(paths(list("", "", 100, "other")), (Paths{"b/3"}));
    EXPECT_EQ(paths(list("", "", 100, "nobody")), Paths{});
  });
}

TEST_F(ListTest, APageSaysWhetherThereIsMore) {
  run([&] {
    for (const char* path : {"a", "b", "c"}) create(path);
    EXPECT_EQ(list("", "", 2).next, "b");
    EXPECT_EQ(list("", "", 3).next, std::nullopt);
    EXPECT_EQ(list("", "b", 2).next, std::nullopt);
    remove("c");
    EXPECT_EQ(list("", "", 2).next, std::nullopt) << "a deleted stream is not more";
  });
}

TEST_F(ListTest, AnEntryTellsWhatNeverChanges) {
  run([&] {
    const WallTime created = rows_->wall();
    const Generation generation = create("a", {}, "t", "text/x-rare; charset=utf-8");
    rows_->wall_time.ms += 5000;
    forget();
    const Listed listed = list();
    ASSERT_EQ(listed.streams.size(), 1u);
    EXPECT_EQ(listed.streams[0].content_type, "text/x-rare; charset=utf-8");
    EXPECT_EQ(listed.streams[0].created, created);
    EXPECT_EQ(listed.streams[0].generation, generation);
  });
}

TEST_F(ListTest, WhatIsDeletedIsNotListedAndWhatIsCreatedAnewIsListedOnce) {
  run([&] {
    create("a");
    create("b");
    remove("a");
    EXPECT_EQ(paths(list()), (Paths{"b"}));
    const Generation anew = create("a");
    const Listed listed = list();
    EXPECT_EQ(paths(listed), (Paths{"a", "b"}));
    EXPECT_EQ(listed.streams[0].generation, anew);
  });
}

TEST_F(ListTest, AStreamIsListedUntilItExpires) {
  run([&] {
    create("brief", ttl(10));
    create("renewed", ttl(10));
    rows_->wall_time.ms += 8000;
    EXPECT_TRUE(std::holds_alternative<ReadAnswer>(
        streams_->read({.stream = hash_of("renewed"), .offset = {}})));
    EXPECT_EQ(paths(list()), (Paths{"brief", "renewed"}));
    rows_->wall_time.ms += 3000;
    EXPECT_EQ(paths(list()), (Paths{"renewed"}));
    EXPECT_EQ(refusal(streams_->head(hash_of("brief"))), Refusal::kAbsent);
    create("brief", ttl(10));
    EXPECT_EQ(paths(list()), (Paths{"brief", "renewed"}));
  });
}

TEST_F(ListTest, OnlyAStreamWhoseFirstDeadlineIsOverCostsALook) {
  run([&] {
    create("a");
    create("b", ttl(10));
    forget();
    const size_t finds = rows_->finds;
    list();
    EXPECT_EQ(rows_->finds, finds);
    rows_->wall_time.ms += 11'000;
    list();
    EXPECT_GT(rows_->finds, finds);
  });
}

TEST_F(ListTest, WhatIsGoneForAListingIsGoneForLaterOwners) {
  run([&] {
    create("a", ttl(8));
    rows_->wall_time.ms += 8500;  // the row's deadline is a second ahead
    rows_->durable_wall_time = WallTime{0};
    const size_t changes = rows_->log().size();
    EXPECT_EQ(paths(list()), Paths{});
    EXPECT_EQ(rows_->log().size(), changes + 1) << "its end is written";
  });
}

TEST_F(ListTest, AnAnswerWaitsForWhatItShows) {
  run([&] {
    create("a");
    rows_->acknowledge_at_once = false;
    scope_->spawn("create", [&] {
      streams_->create({hash_of("b"), "t", "b", "text/plain", {}, {}});
    });
    moment();
    bool answered = false;
    scope_->spawn("list", [&] {
      EXPECT_EQ(paths(list()), (Paths{"a", "b"}));
      answered = true;
    });
    moment();
    EXPECT_FALSE(answered);
    rows_->acknowledge_all();
    moment();
    EXPECT_TRUE(answered);
    rows_->lease = false;
    EXPECT_EQ(unserved(streams_->list({{}, "t", "", "", 1})), ErrorCode::kLeaseLost);
  });
}

TEST_F(ListTest, DamageIsAnErrorAndNotAShortList) {
  run([&] {
    create("a");
    rows_->damage(Tree::kIndex, "?");
    EXPECT_EQ(unserved(streams_->list({{}, "t", "", "", 10})), ErrorCode::kCorrupt);
    rows_->fail_next = Error{ErrorCode::kUnavailable, "away"};
    EXPECT_EQ(unserved(streams_->list({{}, "t", "", "", 10})), ErrorCode::kUnavailable);
  });
}

TEST(Rfc3339, IsReadBackAsTheSameMoment) {
  for (const int64_t ms : {int64_t{0}, int64_t{951'782'399'999}, int64_t{951'782'400'000},
                           int64_t{1'796'000'000'123}, int64_t{4'102'444'800'000}}) {
    EXPECT_EQ(Expiry::parse_at(rfc3339(WallTime{ms}))->at.ms, ms) << rfc3339(WallTime{ms});
  }
  EXPECT_EQ(rfc3339(WallTime{951'782'400'000}), "2000-02-29T00:00:00.000Z");
}

}  // namespace
}  // namespace morula
