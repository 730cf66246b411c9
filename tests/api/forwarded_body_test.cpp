// Bodies in pieces between simulated instances: one answers, another passes it on.
#include "core/api/forwarded_body.hpp"

#include <gtest/gtest.h>

#include "core/api/relay.hpp"
#include "core/base/memory_budget.hpp"
#include "tests/api/api_fixture.hpp"

namespace morula {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr uint64_t kWindow = 1000;

/// Numbered lines that come one by one, as those of a live tail; counts what it was asked for.
class Lines final : public BodySource {
 public:
  struct Told {
    uint64_t bytes = 0;
    size_t open = 0;
  };
  Lines(const Env& env, Told& told, uint64_t lines, Duration pause)
      : env_(env), told_(told), lines_(lines), pause_(pause) {
    ++told_.open;
  }
  ~Lines() override { --told_.open; }
  std::optional<uint64_t> length() const override { return std::nullopt; }
  Result<std::string> next() override {
    if (given_ == lines_) return std::string();
    env_.clock.sleep(pause_);
    std::string line = line_of(given_++);
    told_.bytes += line.size();
    return line;
  }
  static std::string line_of(uint64_t number) { return "line " + std::to_string(number) + "\n"; }
  static std::string all(uint64_t lines) {
    std::string text;
    for (uint64_t i = 0; i < lines; ++i) text += line_of(i);
    return text;
  }

 private:
  const Env& env_;
  Told& told_;
  const uint64_t lines_;
  const Duration pause_;
  uint64_t given_ = 0;
};

/// An owner that answers GETs with lines, and an instance that passes on to it.
class ForwardedBodyTest : public ApiWorldTest {
 protected:
  ForwardedBodyTest() {
    placement_.place = ServedElsewhere{sim::SimNetwork::address_of("owner")};
    owner_.spawn("serve", [this](const Env& env) {
      serve(env, [&](const HttpRequest& request) { return answer(env, request); });
    });
    between_.spawn("serve", [this](const Env& env) {
      ApiConfig config;
      config.forward_body = {kWindow, seconds(10)};
      Api api(env, test_hasher(), placement_, config, nullptr, &memory_);
      serve(env, [&](const HttpRequest& request) { return api.handle(request); });
    });
    world_.pass(Duration(0));
  }
  ~ForwardedBodyTest() override {
    owner_.kill();
    between_.kill();
    world_.pass(seconds(1));
    EXPECT_EQ(told_.open, 0u);
    EXPECT_EQ(memory_.reads.used(), 0u);
  }
  static void serve(const Env& env, const Network::Handler& handler) {
    with_scope(env.domain, [&](Scope& scope) {
      env.network.serve(scope, handler);
      Event forever;
      forever.wait();
    });
  }
  HttpResponse answer(const Env& env, const HttpRequest&) {
    HttpResponse response;
    response.status = status_;
    if (refusals_ > 0) {
      --refusals_;
      response.status = 503;
      response.source = body_in_pieces(R"({"error":{"code":"moving","message":"somewhere"}})", 3);
      return response;
    }
    if (!whole_.empty()) {
      response.body = whole_;
    } else {
      response.source = std::make_shared<Lines>(env, told_, lines_, pause_);
    }
    return response;
  }
  /// A GET that goes by the instance in between.
  Result<HttpResponse> open(const BodyBounds& bounds = {kWindow, seconds(10)}) {
    return open(between_address(), bounds);
  }
  Result<HttpResponse> open(const std::string& address, const BodyBounds& bounds) {
    HttpRequest request;
    request.method = "GET";
    request.target = "/v1/stream/a";
    return env_->network.call_in_pieces(address, request, env_->clock.now() + seconds(60), bounds);
  }
  std::string between_address() const { return sim::SimNetwork::address_of("between"); }

  sim::Process& owner_{world_.add("owner")};
  sim::Process& between_{world_.add("between")};
  FakePlacement placement_;
  MemoryBudget memory_{MemoryShares{}};
  Lines::Told told_;
  uint64_t lines_ = 2000;
  Duration pause_{};
  std::string whole_;
  int status_ = 200;
  int refusals_ = 0;
};

TEST_F(ForwardedBodyTest, ComesAsItWasSent) {
  run([&] {
    auto answer = open();
    ASSERT_TRUE(answer) << answer.error().message;
    ASSERT_TRUE(answer->source);
    EXPECT_EQ(memory_.reads.used(), 2 * kWindow);
    EXPECT_EQ(*read_whole(*answer->source, kMiB), Lines::all(2000));
  });
}

TEST_F(ForwardedBodyTest, ComesFromItsOwnerToo) {
  run([&] {
    auto answer = open(sim::SimNetwork::address_of("owner"), {kWindow, seconds(10)});
    ASSERT_TRUE(answer && answer->source);
    EXPECT_FALSE(answer->headers.contains(kForwardedToHeader));
    EXPECT_EQ(*read_whole(*answer->source, kMiB), Lines::all(2000));
    EXPECT_EQ(memory_.reads.used(), 0u);
  });
}

TEST_F(ForwardedBodyTest, WhoTakesAnswersWholeGetsItWhole) {
  HttpRequest request;
  request.method = "GET";
  request.target = "/v1/stream/a";
  run([&] { EXPECT_EQ(ask(between_address(), request).body, Lines::all(2000)); });
}

TEST_F(ForwardedBodyTest, ALongWholeBodyIsSplitOnItsWay) {
  whole_ = Lines::all(3000);
  run([&] {
    auto answer = open();
    ASSERT_TRUE(answer && answer->source);
    EXPECT_EQ(answer->source->length(), whole_.size());
    EXPECT_EQ(*read_whole(*answer->source, kMiB), whole_);
  });
}

TEST_F(ForwardedBodyTest, AShortOneComesWhole) {
  whole_ = Lines::all(10);
  run([&] {
    const auto answer = open();
    ASSERT_TRUE(answer);
    EXPECT_FALSE(answer->source);
    EXPECT_EQ(answer->body, whole_);
  });
}

TEST_F(ForwardedBodyTest, ALiveTailRunsForHours) {
  lines_ = 2000;
  pause_ = seconds(8);
  const auto read_for_hours = [&](const Env& env) {
    env_ = &env;
    auto answer = open();
    ASSERT_TRUE(answer && answer->source);
    const Time begun = env_->clock.now();
    EXPECT_EQ(*answer->source->next(), Lines::line_of(0)) << "each piece as soon as it is there";
    EXPECT_LT(env_->clock.now() - begun, seconds(9));
    EXPECT_EQ(read_whole(*answer->source, kMiB)->size(),
              Lines::all(2000).size() - Lines::line_of(0).size());
    EXPECT_GT(env_->clock.now() - begun, std::chrono::hours(4));
  };
  EXPECT_TRUE(world_.run(read_for_hours, std::chrono::hours(10)));
}

TEST_F(ForwardedBodyTest, SilenceCutsIt) {
  pause_ = seconds(15);
  run([&] {
    auto answer = open({kWindow, seconds(100)});
    ASSERT_TRUE(answer && answer->source);
    const auto read = read_whole(*answer->source, kMiB);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, ErrorCode::kUnavailable) << "the instance between cut it";
    env_->clock.sleep(seconds(1));
    EXPECT_EQ(told_.open, 0u);
  });
}

TEST_F(ForwardedBodyTest, ASlowReaderHoldsItsSenderBack) {
  run([&] {
    auto answer = open();
    ASSERT_TRUE(answer && answer->source);
    uint64_t taken = 0;
    for (int i = 0; i < 200; ++i) {
      env_->clock.sleep(seconds(1));
      taken += answer->source->next()->size();
      // A window here, another in between, and the pieces that are in hand.
      EXPECT_LE(told_.bytes - taken, 2 * kWindow + 100);
      EXPECT_EQ(memory_.reads.used(), 2 * kWindow);
    }
    EXPECT_LT(told_.bytes, Lines::all(2000).size() / 2);
  });
}

TEST_F(ForwardedBodyTest, AReaderThatLeavesEndsItAtOnce) {
  pause_ = seconds(5);
  run([&] {
    auto answer = open();
    ASSERT_TRUE(answer && answer->source);
    ASSERT_TRUE(answer->source->next());
    EXPECT_EQ(told_.open, 1u);
    answer->source.reset();
    env_->clock.sleep(milliseconds(10));
    EXPECT_EQ(told_.open, 0u);
    EXPECT_EQ(memory_.reads.used(), 0u);
  });
}

TEST_F(ForwardedBodyTest, AnOwnerThatDiesCutsIt) {
  pause_ = milliseconds(10);
  world_.world().events().after(seconds(2), sim::EventQueue::kAlwaysOpen, [&] { owner_.kill(); });
  run([&] {
    auto answer = open();
    ASSERT_TRUE(answer && answer->source);
    EXPECT_FALSE(read_whole(*answer->source, kMiB));
    EXPECT_GT(told_.bytes, 0u);
  });
}

TEST_F(ForwardedBodyTest, APausedOwnerSendsNothing) {
  pause_ = milliseconds(10);
  auto& events = world_.world().events();
  events.after(seconds(2), sim::EventQueue::kAlwaysOpen, [&] { owner_.pause(); });
  events.after(seconds(7), sim::EventQueue::kAlwaysOpen, [&] { owner_.resume(); });
  run([&] {
    auto answer = open();
    ASSERT_TRUE(answer && answer->source);
    env_->clock.sleep(seconds(3));
    const uint64_t before = told_.bytes;
    env_->clock.sleep(seconds(2));
    EXPECT_EQ(told_.bytes, before);
    EXPECT_EQ(*read_whole(*answer->source, kMiB), Lines::all(2000));
  });
}

TEST_F(ForwardedBodyTest, ALostPieceIsNeverTakenForTheEnd) {
  for (int lost = 0; lost < 40; lost += 3) {
    int piece = 0;
    lines_ = 300;
    world_.world().network().set_fates(
        [&](sim::ProcessId, sim::ProcessId, sim::SimNetwork::Way way) {
          sim::CallFate fate;
          fate.lost = way == sim::SimNetwork::Way::kPiece && piece++ == lost;
          return fate;
        });
    run([&] {
      auto answer = open();
      ASSERT_TRUE(answer && answer->source);
      const auto read = read_whole(*answer->source, kMiB);
      // What was lost may have been what tells the sender that something was taken.
      if (read) {
        EXPECT_EQ(*read, Lines::all(300));
      }
    });
    world_.world().network().set_fates({});
    world_.pass(std::chrono::minutes(2));
    EXPECT_EQ(memory_.reads.used(), 0u) << lost;
  }
}

TEST_F(ForwardedBodyTest, ARefusalIsUnderstoodThoughItComesInPieces) {
  refusals_ = 1;
  lines_ = 3;
  run([&] {
    auto answer = open();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->status, 200);
    EXPECT_EQ(placement_.refreshes, 1u) << "it was asked again";
    EXPECT_EQ(*read_whole(*answer->source, kMiB), Lines::all(3));
  });
}

TEST_F(ForwardedBodyTest, WithoutMemoryForItNobodyIsAsked) {
  run([&] {
    const MemoryReservation all = memory_.reads.hold(memory_.reads.limit() - kWindow);
    const auto answer = open();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->status, 503);
    EXPECT_EQ(code_of(*answer), "read_memory_busy");
    EXPECT_EQ(memory_.refusals(MemoryRefusal::kReadMemoryBusy), 1u);
    EXPECT_EQ(told_.bytes, 0u);
  });
}

}  // namespace
}  // namespace morula
