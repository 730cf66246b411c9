// Sliding TTLs: what is written when, and what is answered after memory was lost.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/stream/streams_fixture.hpp"

namespace morula {
namespace {

class RenewalTest : public StreamsTest {
 protected:
  static constexpr int64_t kTtlMs = 8000;

  /// A stream with a TTL of 8 s: what is persisted is 9 s ahead.
  void create() {
    CreateRequest request = create_request("text/plain", "x");
    request.expiry = *Expiry::parse_ttl("8");
    ASSERT_TRUE(std::holds_alternative<Created>(streams_->create(request)));
  }
  void wait(int64_t ms) { rows_->wall_time.ms += ms; }
  bool alive() { return std::holds_alternative<StreamInfo>(streams_->head(kStream)); }
  size_t written() const { return rows_->log().size(); }
  /// Nobody but this owner knows what time it is.
  void forget_time() { rows_->durable_wall_time = WallTime{0}; }
};

TEST_F(RenewalTest, ARenewalIsWrittenOnlyOnceLessThanAWholeTtlIsPersisted) {
  run([&] {
    create();
    wait(1000);
    EXPECT_EQ(read_all(), "x");
    EXPECT_EQ(written(), 1u);
    wait(1);
    EXPECT_EQ(read_all(), "x");
    EXPECT_EQ(written(), 2u);
    wait(1000);
    EXPECT_EQ(read_all(), "x");
    EXPECT_EQ(written(), 2u);
  });
}

TEST_F(RenewalTest, AReadThatRenewsIsAnsweredWhenTheRenewalIsDurable) {
  run([&] {
    create();
    wait(1001);
    rows_->acknowledge_at_once = false;
    bool answered = false;
    scope_->spawn("read", [&] { answered = read_all() == "x"; });
    moment();
    EXPECT_FALSE(answered);
    rows_->acknowledge_all();
    moment();
    EXPECT_TRUE(answered);
  });
}

TEST_F(RenewalTest, WhenMemoryIsLostAStreamLivesAtMostAnEighthLonger) {
  run([&] {
    create();
    wait(1000);
    EXPECT_EQ(read_all(), "x");
    forget();
    wait(kTtlMs - 1);
    EXPECT_TRUE(alive()) << "a whole TTL has not passed since the read";
    wait(1);
    EXPECT_FALSE(alive());
  });
  run([&] {
    create();
    forget();
    wait(kTtlMs + kTtlMs / 8 - 1);
    EXPECT_TRUE(alive());
    wait(1);
    EXPECT_FALSE(alive());
  });
}

TEST_F(RenewalTest, AnAppendRenewsAndADuplicateToo) {
  run([&] {
    create();
    wait(kTtlMs - 1);
    EXPECT_TRUE(std::holds_alternative<Appended>(streams_->append(append_by("p", 0, 0, "y"))));
    wait(kTtlMs - 1);
    EXPECT_TRUE(std::get<Appended>(streams_->append(append_by("p", 0, 0, "y"))).duplicate);
    forget();
    wait(kTtlMs - 1);
    EXPECT_TRUE(alive());
    wait(kTtlMs / 8 + 1);
    EXPECT_FALSE(alive());
  });
}

TEST_F(RenewalTest, OtherRequestsRenewNothing) {
  run([&] {
    create();
    wait(kTtlMs - 1);
    EXPECT_TRUE(alive());
    CreateRequest again = create_request();
    again.expiry = *Expiry::parse_ttl("8");
    EXPECT_TRUE(std::get<Created>(streams_->create(again)).existed);
    AppendRequest refused = append_request("z");
    refused.expected_offset = Offset{7, 7};
    EXPECT_EQ(refusal(streams_->append(refused)), Refusal::kOffsetMismatch);
    ReadRequest look = read_from();
    look.renews = false;
    EXPECT_TRUE(std::holds_alternative<ReadAnswer>(streams_->read(look)));
    StreamHash other = kStream;
    other.check ^= 1;
    ReadRequest others = read_from();
    others.stream = other;
    EXPECT_EQ(refusal(streams_->read(others)), Refusal::kCollision);
    EXPECT_EQ(written(), 1u);
    wait(1);
    EXPECT_FALSE(alive());
  });
}

TEST_F(RenewalTest, AHeadNeverShowsMoreThanTheTtl) {
  run([&] {
    create();
    forget();
    EXPECT_EQ(std::get<StreamInfo>(streams_->head(kStream)).remaining_ms, 8000u);
  });
}

TEST_F(RenewalTest, AnEndThatWasAnsweredStaysWhenMemoryIsLost) {
  run([&] {
    create();
    wait(kTtlMs);
    EXPECT_FALSE(alive()) << "although an eighth is left in the row";
    forget();
    EXPECT_FALSE(alive());
    EXPECT_EQ(written(), 2u);
    EXPECT_EQ(refusal(streams_->read(read_from())), Refusal::kAbsent);
    EXPECT_EQ(written(), 2u) << "once is enough";
  });
}

TEST_F(RenewalTest, AnEndIsWrittenBeforeItIsAnsweredUnlessLaterOwnersKnowTheTime) {
  for (const bool known : {false, true}) {
    run([&] {
      CreateRequest request = create_request();
      request.expiry = *Expiry::parse_at("1970-01-01T00:20:00Z");
      streams_->create(request);
      if (!known) forget_time();
      rows_->wall_time = WallTime{1'200'000};
      rows_->acknowledge_at_once = false;
      bool gone = false;
      scope_->spawn("head", [&] { gone = !alive(); });
      moment();
      EXPECT_EQ(gone, known);
      EXPECT_EQ(written(), known ? 1u : 2u);
      rows_->acknowledge_all();
      moment();
      EXPECT_TRUE(gone);
      EXPECT_FALSE(alive());
      EXPECT_EQ(written(), known ? 1u : 2u);
    });
  }
}

TEST_F(RenewalTest, NothingRenewsAStreamThatIsGone) {
  run([&] {
    create();
    wait(kTtlMs);
    EXPECT_EQ(refusal(streams_->read(read_from())), Refusal::kAbsent);
    EXPECT_EQ(refusal(streams_->append(append_request("y"))), Refusal::kAbsent);
    EXPECT_EQ(refusal(streams_->remove({kStream, "default", kPath})), Refusal::kAbsent);
    create();
    EXPECT_EQ(std::get<StreamInfo>(streams_->head(kStream)).generation, Generation(2));
  });
}

TEST_F(RenewalTest, AReadThatCannotBeRenewedIsNotAnswered) {
  run([&] {
    create();
    wait(1001);
    rows_->fail_next = Error{ErrorCode::kFull, "full"};
    EXPECT_EQ(unserved(streams_->read(read_from())), ErrorCode::kFull);
    EXPECT_EQ(read_all(), "x");
  });
}

TEST_F(RenewalTest, AStreamWhoseOtherRowsWereDroppedIsGone) {
  run([&] {
    create();
    wait(kTtlMs + kTtlMs / 8);
    rows_->drop_all_but_hot();
    forget();
    EXPECT_FALSE(alive());
    create();
    EXPECT_TRUE(alive());
  });
}

/// What a client may ask, and what may happen.
enum class Event : uint8_t { kRead, kAppend, kHead, kWait, kWaitLong, kForget };

RC_GTEST_PROP(Renewal, AStreamIsNeverGoneEarlyNorLateNorBack, ()) {
  const auto events = *rc::gen::container<std::vector<std::pair<uint8_t, uint16_t>>>(
      rc::gen::pair(rc::gen::inRange<uint8_t>(0, 6), rc::gen::inRange<uint16_t>(0, 1200)));
  const bool time_is_known = *rc::gen::arbitrary<bool>();
  sim::TestWorld world;
  const bool ended = world.run([&](const Env& env) {
    MemoryRows rows(env);
    if (!time_is_known) rows.durable_wall_time = WallTime{0};
    auto streams = std::make_unique<Streams>(env, rows, StreamLimits{});
    CreateRequest create = create_request("text/plain", "x");
    create.expiry = *Expiry::parse_ttl("8");
    streams->create(create);
    int64_t renewed = rows.wall_time.ms;
    bool forgot = false;  // since then
    bool gone = false;
    for (const auto& [what, ms] : events) {
      const int64_t now = rows.wall_time.ms;
      bool there = false;
      switch (static_cast<Event>(what)) {
        case Event::kRead:
          there = std::holds_alternative<ReadAnswer>(streams->read(read_from()));
          break;
        case Event::kAppend:
          there = std::holds_alternative<Appended>(streams->append(append_request("y")));
          break;
        case Event::kHead:
          there = std::holds_alternative<StreamInfo>(streams->head(kStream));
          break;
        case Event::kForget:
          streams = std::make_unique<Streams>(env, rows, StreamLimits{});
          forgot = true;
          continue;
        default:
          rows.wall_time.ms += static_cast<Event>(what) == Event::kWait ? ms : 6 * ms;
          continue;
      }
      RC_ASSERT(!(gone && there));
      if (!gone && now < renewed + 8000) RC_ASSERT(there);
      if (now >= renewed + (forgot ? 9000 : 8000)) RC_ASSERT(!there);
      gone = !there;
      if (!there || static_cast<Event>(what) == Event::kHead) continue;
      renewed = now;
      forgot = false;
    }
  });
  RC_ASSERT(ended);
}

}  // namespace
}  // namespace morula
