// What answers wait for, and what becomes of them when the shard goes.
#include <gtest/gtest.h>

#include "core/base/mutant.hpp"
#include "tests/stream/streams_fixture.hpp"

namespace morula {
namespace {

TEST_F(StreamsTest, NoAnswerShowsAChangeBeforeItIsDurable) {
  run([&] {
    streams_->create(create_request());
    streams_->append(append_by("p", 0, 0, "a"));
    rows_->acknowledge_at_once = false;
    int answers = 0;
    const auto ask = [&](const char* what, auto call) {
      scope_->spawn(what, [&answers, call] {
        call();
        ++answers;
      });
    };
    AppendRequest mismatch = append_request("x");
    mismatch.expected_offset = Offset{7, 7};
    AppendRequest wrong_type = append_request("x", "text/html");
    ask("append", [&] { streams_->append(append_by("p", 0, 1, "b")); });
    moment();
    ask("append", [&] { streams_->append(append_request("c")); });
    ask("duplicate", [&] { streams_->append(append_by("p", 0, 1, "b")); });
    ask("gap", [&] { streams_->append(append_by("p", 0, 9, "b")); });
    ask("mismatch", [&, mismatch] { streams_->append(mismatch); });
    ask("wrong type", [&, wrong_type] { streams_->append(wrong_type); });
    ask("head", [&] { streams_->head(kStream); });
    ask("read", [&] { streams_->read(read_from()); });
    ask("bad offset", [&] { streams_->read(read_from(Offset{99, 99})); });
    ask("create", [&] { streams_->create(create_request()); });
    ask("other", [&] { streams_->create(create_request("text/html")); });
    moment();
    EXPECT_EQ(answers, 0);
    ask("remove", [&] { streams_->remove({kStream, "default", kPath}); });
    moment();
    ask("absent", [&] { streams_->head(kStream); });
    ask("absent", [&] { streams_->remove({kStream, "default", kPath}); });
    ask("absent", [&] { streams_->append(append_request("x")); });
    moment();
    EXPECT_EQ(answers, 0);
    EXPECT_EQ(rows_->log().size(), 5u) << "create, three appends, remove";
    rows_->acknowledge(LogSeq(3));
    moment();
    EXPECT_EQ(answers, 11) << "all but those that show the delete";
    rows_->acknowledge(LogSeq(4));
    moment();
    EXPECT_EQ(answers, 15);
  });
}

TEST_F(StreamsTest, ManyAppendersOfOneStreamShareABatch) {
  run([&] {
    streams_->create(create_request());
    rows_->acknowledge_at_once = false;
    for (int i = 0; i < 50; ++i) {
      scope_->spawn("appender", [&] { streams_->append(append_request("x")); });
    }
    moment();
    EXPECT_EQ(rows_->log().size(), 51u) << "none waited for another's durability";
  });
}

TEST_F(StreamsTest, AnAnswerThatShowsNoUnacknowledgedChangeNeedsOnlyTheLease) {
  run([&] {
    streams_->create(create_request("text/plain", "x"));
    forget();
    rows_->acknowledge_at_once = false;
    EXPECT_EQ(read_all(), "x");
    EXPECT_EQ(rows_->last_confirmed, std::nullopt);
    rows_->lease = false;
    EXPECT_EQ(unserved(streams_->read(read_from())), ErrorCode::kLeaseLost);
    EXPECT_EQ(unserved(streams_->head(kStream)), ErrorCode::kLeaseLost);
    EXPECT_EQ(unserved(streams_->append(append_by("p", 0, 5, "x"))), ErrorCode::kLeaseLost);
    EXPECT_EQ(unserved(streams_->create(create_request())), ErrorCode::kLeaseLost);
    rows_->acknowledge_at_once = true;
    EXPECT_TRUE(std::holds_alternative<Appended>(streams_->append(append_request("y"))))
        << "a write needs no clock";
  });
}

TEST_F(StreamsTest, AFenceLeavesTheOutcomeOfAWriteUnknownAndOfARefusalNot) {
  run([&] {
    streams_->create(create_request());
    rows_->acknowledge_at_once = false;
    std::vector<std::string> ended;
    scope_->spawn("append", [&] {
      const auto outcome = streams_->append(append_by("p", 0, 0, "a"));
      ended.push_back(std::holds_alternative<OutcomeUnknown>(outcome) ? "append" : "?");
    });
    moment();
    scope_->spawn("duplicate", [&] {
      const auto outcome = streams_->append(append_by("p", 0, 0, "a"));
      ended.push_back(unserved(outcome) == ErrorCode::kFenced ? "duplicate" : "?");
    });
    scope_->spawn("read", [&] {
      ended.push_back(unserved(streams_->read(read_from())) == ErrorCode::kFenced ? "read" : "?");
    });
    scope_->spawn("remove", [&] {
      const auto outcome = streams_->remove({kStream, "default", kPath});
      ended.push_back(std::holds_alternative<OutcomeUnknown>(outcome) ? "remove" : "?");
    });
    moment();
    EXPECT_TRUE(ended.empty());
    rows_->fence();
    moment();
    std::sort(ended.begin(), ended.end());
    EXPECT_EQ(ended, (std::vector<std::string>{"append", "duplicate", "read", "remove"}));
    EXPECT_EQ(unserved(streams_->append(append_request("x"))), ErrorCode::kFenced);
  });
}

TEST_F(StreamsTest, AnAppendWaitsForRoom) {
  run([&] {
    streams_->create(create_request());
    rows_->lose_room();
    scope_->spawn("append", [&] { streams_->append(append_request("x")); });
    moment();
    EXPECT_EQ(rows_->log().size(), 1u);
    EXPECT_EQ(read_all(), "") << "a read doesn't";
    rows_->give_room();
    moment();
    EXPECT_EQ(rows_->log().size(), 2u);
  });
}

TEST_F(StreamsTest, ACancelledAppendHasHappenedOrNot) {
  run([&] {
    streams_->create(create_request());
    rows_->acknowledge_at_once = false;
    with_scope(env_->domain, [&](Scope& scope) {
      scope.spawn("append", [&] { streams_->append(append_by("p", 0, 0, "a")); });
      moment();
      scope.cancel();
    });
    rows_->acknowledge_all();
    rows_->acknowledge_at_once = true;
    EXPECT_TRUE(std::get<Appended>(streams_->append(append_by("p", 0, 0, "a"))).duplicate);
    EXPECT_EQ(read_all(), "a");
  });
}

TEST_F(StreamsTest, AReadWhoseRowsADeleteTookFindsTheStreamGone) {
  run([&] {
    streams_->create(create_request("text/plain", "x"));
    forget();
    rows_->suspend_one_in = 1;
    std::optional<Refusal> seen;
    scope_->spawn("read", [&] { seen = refusal(streams_->read(read_from())); });
    // The read has the state and waits for its rows, which are dropped as a compaction does.
    while (rows_->finds == 1) env_->clock.sleep(std::chrono::microseconds(10));
    rows_->suspend_one_in = 0;
    streams_->remove({kStream, "default", kPath});
    rows_->erase_data();
    env_->clock.sleep(std::chrono::seconds(1));
    EXPECT_EQ(seen, Refusal::kAbsent);
  });
}

#ifdef MORULA_MUTANTS
TEST_F(StreamsTest, TheMutantAnswersADuplicateTooEarly) {
  active_mutant = Mutant::duplicate_before_durable;
  run([&] {
    streams_->create(create_request());
    rows_->acknowledge_at_once = false;
    bool answered = false;
    scope_->spawn("append", [&] { streams_->append(append_by("p", 0, 0, "a")); });
    moment();
    scope_->spawn("duplicate", [&] {
      streams_->append(append_by("p", 0, 0, "a"));
      answered = true;
    });
    moment();
    EXPECT_TRUE(answered);
  });
  active_mutant = Mutant::none;
}
#endif

}  // namespace
}  // namespace morula
