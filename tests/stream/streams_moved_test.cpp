// What becomes of requests while the shard of their stream goes, comes back, or is another's in
// between.
#include <gtest/gtest.h>

#include <set>

#include "tests/stream/streams_fixture.hpp"

namespace morula {
namespace {

class MovedTest : public StreamsTest {
 protected:
  using Call = std::function<std::optional<ErrorCode>()>;

  /// A stream with a producer, a sequence and a TTL; nothing of it in memory.
  void begin() {
    CreateRequest create = create_request("text/plain", "x");
    create.expiry = *Expiry::parse_ttl("8");
    streams_->create(create);
    AppendRequest append = append_by("p", 0, 0, "a");
    append.sequence = "1";
    streams_->append(append);
    forget();
  }
  /// Everything that can be asked, by its name.
  std::vector<std::pair<std::string, Call>> calls() {
    const auto with = [this](AppendRequest request) {
      return [this, request] { return unserved(streams_->append(request)); };
    };
    AppendRequest next = append_by("p", 0, 1, "b");
    next.sequence = "2";
    AppendRequest regression = append_by("p", 0, 1, "b");
    regression.sequence = "0";
    return {
        {"create what exists", [this] { return unserved(streams_->create(create_request())); }},
        {"append", with(next)},
        {"duplicate", with(append_by("p", 0, 0, "a"))},
        {"gap", with(append_by("p", 0, 7, "a"))},
        {"regression", with(regression)},
        {"another type", with(append_request("x", "text/html"))},
        {"read", [this] { return unserved(streams_->read(read_from())); }},
        {"read at a bad offset",
         [this] {
           return unserved(streams_->read(read_from({{9, 9}})));
         }},
        {"head", [this] { return unserved(streams_->head(kStream)); }},
        {"list",
         [this] {
           return unserved(streams_->list({{}, "default", "", "", 10}));
         }},
        {"remove",
         [this] {
           return unserved(streams_->remove({kStream, "default", kPath}));
         }},
    };
  }
  void leave() { rows_->shards.clear(); }
  void come() { rows_->shards = {Prefix{}}; }
  /// Calls `happen` at the n-th question of `call` to the rows. False: there was no such question.
  bool at_question(size_t n, const Call& call, const std::function<void()>& happen,
                   std::optional<ErrorCode>& ended) {
    size_t asked = 0;
    rows_->on_ask = [&] {
      if (++asked == n) happen();
    };
    ended = call();
    rows_->on_ask = nullptr;
    return asked >= n;
  }
};

TEST_F(MovedTest, WhateverIsAskedWhileItsShardGoesEndsAsMovedAndChangesNothing) {
  std::set<std::string> gone_in_the_middle;
  for (size_t call = 0; call < 11; ++call) {
    for (size_t n = 1;; ++n) {
      bool went = false;
      run([&] {
        begin();
        rows_->wall_time.ms += 2000;  // a read has to write its renewal
        const auto [name, ask] = calls()[call];
        size_t changes = 0;
        std::optional<ErrorCode> ended;
        const auto go = [&] {
          leave();
          changes = rows_->log().size();  // a read may have renewed the stream before
        };
        went = at_question(n, ask, go, ended);
        if (!went) return;
        EXPECT_EQ(ended, ErrorCode::kMoved) << name << ", question " << n;
        EXPECT_EQ(rows_->log().size(), changes) << name << ", question " << n;
        if (n > 1) gone_in_the_middle.insert(name);
      });
      if (!went) break;
    }
  }
  EXPECT_GE(gone_in_the_middle.size(), 9u);
}

TEST_F(MovedTest, AShardThatWasAnothersMeanwhileShowsNoStaleStates) {
  for (size_t call = 0; call < 11; ++call) {
    for (size_t n = 1;; ++n) {
      bool went = false;
      run([&] {
        begin();
        rows_->wall_time.ms += 2000;
        const auto [name, ask] = calls()[call];
        size_t changes = 0;
        std::optional<ErrorCode> ended;
        const auto be_anothers = [&] {
          leave();
          streams_->forget({});
          rows_->on_ask = nullptr;
          come();
          Streams another(*env_, *rows_, limits_);
          EXPECT_TRUE(std::holds_alternative<Removed>(another.remove({kStream, "default", kPath})));
          another.create(create_request("text/html", "other"));
          changes = rows_->log().size();
        };
        went = at_question(n, ask, be_anothers, ended);
        if (!went) return;
        // What is asked of rows only afterwards is as good as asked afterwards.
        if (n == 1 || name == "list") return;
        EXPECT_EQ(ended, ErrorCode::kMoved) << name << ", question " << n;
        EXPECT_EQ(rows_->log().size(), changes) << name << ", question " << n;
        EXPECT_EQ(read_all(), "other");
      });
      if (!went) break;
    }
  }
}

TEST_F(MovedTest, AShardThatOnlyStoppedForAMomentGoesOnWithWhatItHad) {
  run([&] {
    begin();
    size_t questions = 0;
    rows_->on_ask = [&] {
      if (++questions != 3) return;
      leave();
      moment();
      come();
    };
    EXPECT_TRUE(std::holds_alternative<Appended>(streams_->append(append_by("p", 0, 1, "b"))));
    rows_->on_ask = nullptr;
    leave();
    EXPECT_EQ(unserved(streams_->head(kStream)), ErrorCode::kMoved);
    EXPECT_EQ(unserved(streams_->append(append_by("p", 0, 2, "c"))), ErrorCode::kMoved);
    come();
    const size_t finds = rows_->finds;
    EXPECT_EQ(read_all(), "xab");
    EXPECT_EQ(rows_->finds, finds) << "its state was still there";
  });
}

TEST_F(MovedTest, AChangeThatWasAppliedBeforeItsShardWentIsAnswered) {
  run([&] {
    begin();
    rows_->acknowledge_at_once = false;
    bool appended = false;
    scope_->spawn("append", [&] {
      appended = std::holds_alternative<Appended>(streams_->append(append_by("p", 0, 1, "b")));
    });
    moment();
    leave();
    moment();
    EXPECT_FALSE(appended);
    rows_->acknowledge_all();
    moment();
    EXPECT_TRUE(appended);
    streams_->forget({});
  });
}

TEST_F(MovedTest, AnAnswerThatWroteNothingIsNotGivenOnceItsShardWent) {
  for (const bool comes_back : {false, true}) {
    run([&] {
      begin();
      rows_->acknowledge_at_once = false;
      scope_->spawn("append", [&] { streams_->append(append_by("p", 0, 1, "b")); });
      moment();
      std::vector<std::optional<ErrorCode>> ended;
      for (const auto& [name, call] : calls()) {
        if (name == "append" || name == "remove") continue;
        scope_->spawn("ask", [&ended, call = call] { ended.push_back(call()); });
      }
      moment();
      ASSERT_EQ(ended.size(), 0u) << "all show an append that is not durable yet";
      leave();
      streams_->forget({});
      if (comes_back) come();
      rows_->acknowledge_all();
      moment();
      ASSERT_EQ(ended.size(), 9u);
      // A listing goes by the rows alone.
      const auto moved = std::ranges::count(ended, std::optional(ErrorCode::kMoved));
      EXPECT_EQ(moved, comes_back ? 8 : 9);
    });
  }
}

TEST_F(MovedTest, ForgettingOneShardLeavesTheOthersInMemory) {
  run([&] {
    streams_->create(create_request());
    CreateRequest other = create_request();
    other.stream = {{0x8000'0000'0000'0000, 1}, 2};
    streams_->create(other);
    ASSERT_EQ(streams_->cached(), 2u);
    streams_->forget(*Prefix::parse("1"));
    EXPECT_EQ(streams_->cached(), 1u);
    const size_t finds = rows_->finds;
    streams_->head(kStream);
    EXPECT_EQ(rows_->finds, finds);
    streams_->head(other.stream);
    EXPECT_GT(rows_->finds, finds);
  });
}

}  // namespace
}  // namespace morula
