// Bodies in pieces over real sockets: what a client sees of them, and what is held meanwhile.
#include "prod/http/http_body.hpp"

#include <atomic>

#include "core/api/api.hpp"
#include "core/api/placement.hpp"
#include "core/rt/random.hpp"
#include "prod/http/curl_client.hpp"
#include "prod/http/http_network.hpp"
#include "prod/linux_platform.hpp"
#include "prod/thread_compute.hpp"
#include "tests/prod/http_fixture.hpp"
#include "tests/store/idle_store.hpp"

namespace morula {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr size_t kPiece = 10'000;

/// How a test's source behaves, and what became of it.
struct Manners {
  uint64_t pieces = 3;
  bool says_length = false;
  bool breaks_word = false;           // about its length
  uint64_t cut_after = UINT64_MAX;    // pieces
  uint64_t stall_after = UINT64_MAX;  // pieces
  std::atomic<uint64_t> given = 0;    // bytes
  std::atomic<size_t> open = 0;
};

class TestSource final : public BodySource {
 public:
  TestSource(Loop& loop, Manners& manners) : loop_(loop), manners_(manners) { ++manners_.open; }
  ~TestSource() override { --manners_.open; }
  std::optional<uint64_t> length() const override {
    const uint64_t told = manners_.pieces * kPiece + (manners_.breaks_word ? 1 : 0);
    return manners_.says_length ? std::optional(told) : std::nullopt;
  }
  Result<std::string> next() override {
    if (given_ == manners_.stall_after) loop_.sleep(seconds(1000));
    if (given_ == manners_.cut_after) return fail(ErrorCode::kUnavailable, "cut");
    if (given_ == manners_.pieces) return std::string();
    manners_.given += kPiece;
    return piece(given_++);
  }
  static std::string piece(uint64_t number) {
    return std::string(kPiece, static_cast<char>('a' + number % 26));
  }
  static std::string all(uint64_t pieces) {
    std::string text;
    for (uint64_t i = 0; i < pieces; ++i) text += piece(i);
    return text;
  }

 private:
  Loop& loop_;
  Manners& manners_;
  uint64_t given_ = 0;
};

class HttpBodyTest : public testing::Test {
 protected:
  ~HttpBodyTest() override { EXPECT_EQ(manners_.open, 0u); }
  Network::Handler handler() {
    return [this](const HttpRequest& request) {
      if (request.target == "/whole") return echo(request);
      HttpResponse response;
      response.source = std::make_shared<TestSource>(bench_.loop, manners_);
      return response;
    };
  }
  void run(const std::function<void(uint16_t port)>& client) { bench_.run(handler(), client); }
  /// The source ends within a moment.
  bool ends() {
    for (int i = 0; i < 500 && manners_.open > 0; ++i) {
      std::this_thread::sleep_for(milliseconds(10));
    }
    return manners_.open == 0;
  }

  HttpBench bench_;
  Manners manners_;
};

/// What a chunked body stands for; nullopt: it has no end.
std::optional<std::string> unchunked(std::string_view body) {
  std::string text;
  for (;;) {
    const size_t line = body.find("\r\n");
    if (line == std::string_view::npos) return std::nullopt;
    const size_t size = std::stoul(std::string(body.substr(0, line)), nullptr, 16);
    body.remove_prefix(line + 2);
    if (body.size() < size + 2) return std::nullopt;
    text += body.substr(0, size);
    body.remove_prefix(size + 2);
    if (size == 0) return body.empty() ? std::optional(text) : std::nullopt;
  }
}

TEST_F(HttpBodyTest, OfUnknownLengthIsChunkedAndTheConnectionGoesOn) {
  run([&](uint16_t port) {
    RawClient client(port);
    client.send(get("/a") + get("/whole") + get("/b", "Connection: close\r\n"));
    const std::string answers = client.to_the_end();
    const std::string head = answers.substr(0, answers.find("\r\n\r\n"));
    EXPECT_NE(head.find("Transfer-Encoding: chunked"), std::string::npos) << head;
    EXPECT_EQ(head.find("Content-Length"), std::string::npos) << head;
    const size_t second = answers.find("HTTP/1.1 200", 1);
    ASSERT_NE(second, std::string::npos);
    EXPECT_EQ(unchunked(body_of(answers.substr(0, second))), TestSource::all(3));
    EXPECT_NE(answers.find("GET /whole "), std::string::npos);
    const size_t third = answers.find("HTTP/1.1 200", second + 1);
    EXPECT_EQ(unchunked(body_of(answers.substr(third))), TestSource::all(3));
  });
}

TEST_F(HttpBodyTest, OfKnownLengthSaysIt) {
  manners_.says_length = true;
  run([&](uint16_t port) {
    RawClient client(port);
    for (int i = 0; i < 3; ++i) {
      client.send(get("/a"));
      const std::string answer = client.response();
      EXPECT_NE(answer.find("Content-Length: 30000\r\n"), std::string::npos);
      EXPECT_EQ(body_of(answer), TestSource::all(3));
    }
    client.send("HEAD /a HTTP/1.1\r\nHost: x\r\n\r\n" + get("/whole"));
    EXPECT_EQ(status_of(client.response()), "200");
    EXPECT_EQ(body_of(client.response()), "GET /whole ");
  });
}

TEST_F(HttpBodyTest, ThatIsCutClosesTheConnectionBeforeItsEnd) {
  manners_.cut_after = 2;
  for (const bool says_length : {true, false}) {
    manners_.says_length = says_length;
    run([&](uint16_t port) {
      RawClient client(port);
      client.send(get("/a") + get("/whole"));
      const std::string answer = client.to_the_end();
      EXPECT_EQ(status_of(answer), "200");
      EXPECT_LE(body_of(answer).size(), 2 * (kPiece + 8));
      if (!says_length) {
        EXPECT_FALSE(unchunked(body_of(answer)));
      }
      EXPECT_EQ(answer.find("/whole"), std::string::npos) << "nothing comes after it";
    });
  }
}

TEST_F(HttpBodyTest, ASourceThatBreaksItsWordIsCut) {
  manners_.says_length = true;
  manners_.breaks_word = true;
  run([&](uint16_t port) {
    RawClient client(port);
    client.send(get("/a"));
    const std::string answer = client.to_the_end();
    EXPECT_NE(answer.find("Content-Length: 30001\r\n"), std::string::npos);
    EXPECT_LE(body_of(answer).size(), 3 * kPiece);
  });
}

TEST_F(HttpBodyTest, AnOldClientSeesACutAsAReset) {
  for (const bool cut : {false, true}) {
    manners_.cut_after = cut ? 2 : UINT64_MAX;
    run([&](uint16_t port) {
      RawClient client(port);
      client.send("GET /a HTTP/1.0\r\n\r\n");
      const std::string answer = client.to_the_end();
      EXPECT_EQ(answer.find("chunked"), std::string::npos);
      EXPECT_EQ(client.was_reset(), cut);
      if (!cut) {
        EXPECT_EQ(body_of(answer), TestSource::all(3));
      }
    });
  }
}

TEST_F(HttpBodyTest, AReaderThatLeavesEndsTheSourceAtOnce) {
  manners_.stall_after = 2;
  for (const char* more : {"", "Connection: close\r\n"}) {
    manners_.given = 0;
    run([&](uint16_t port) {
      {
        RawClient client(port);
        client.send(get("/a", more));
        while (manners_.given < 2 * kPiece) std::this_thread::sleep_for(milliseconds(1));
        EXPECT_EQ(manners_.open, 1u);
      }
      EXPECT_TRUE(ends()) << more;
    });
  }
}

TEST_F(HttpBodyTest, ASlowReaderHoldsTheSourceBack) {
  manners_.pieces = 5000;
  manners_.says_length = true;
  run([&](uint16_t port) {
    RawClient client(port);
    client.send(get("/a"));
    uint64_t before = 0;
    do {
      before = manners_.given;
      std::this_thread::sleep_for(milliseconds(300));
    } while (manners_.given != before);
    EXPECT_LT(manners_.given, 20'000'000u) << "what the kernel holds, and a piece";
    EXPECT_EQ(body_of(client.response()), TestSource::all(5000));
  });
}

TEST_F(HttpBodyTest, AStopEndsABodyThatIsHalfSent) {
  manners_.stall_after = 2;
  bench_.run(
      [&](const HttpRequest&) {
        HttpResponse response;
        response.source = std::make_shared<TestSource>(bench_.loop, manners_);
        return response;
      },
      [&](uint16_t port) {
        RawClient client(port);
        client.send(get("/a"));
        while (manners_.given < 2 * kPiece) std::this_thread::sleep_for(milliseconds(1));
      });
  EXPECT_EQ(manners_.open, 0u) << "closing the scope of the requests has ended it";
}

/// An instance that owns nothing and passes everything on to `owner`, over real sockets.
class HttpForwardTest : public HttpBodyTest {
 protected:
  struct Elsewhere : Placement {
    explicit Elsewhere(std::string owner) : address(std::move(owner)) {}
    Place locate(StreamId) override { return ServedElsewhere{address}; }
    std::vector<ShardPlace> shards() override { return {}; }
    void await_change(Time) override {}
    void refresh(Time) override {}
    bool ready() const override { return true; }
    std::string address;
  };

  /// Runs `client` in a thread; `port` is that of the instance in between.
  void run_forward(const std::function<void(uint16_t port)>& client) {
    bench_.loop.run_fiber("test", [&] {
      HttpServer owner(bench_.loop, bench_.trace, bench_.config, owner_memory_);
      HttpServer between(bench_.loop, bench_.trace, bench_.config, bench_.memory);
      ASSERT_TRUE(owner.listen("127.0.0.1", 0) && between.listen("127.0.0.1", 0));
      CurlClient curl(bench_.loop, calls_);
      const auto at = [](const HttpServer& server) {
        return "http://127.0.0.1:" + std::to_string(server.port());
      };
      HttpNetwork network(between, curl, at(between));
      Elsewhere placement(at(owner));
      IdleStore store;
      Random random(1);
      ThreadCompute compute(bench_.loop, 1);
      LinuxPlatform platform;
      const Env env{bench_.loop.domain(), bench_.loop, network, store, random, compute, platform,
                    bench_.trace};
      Api api(env, StreamHasher(HashSecret{1, 2, 3}), placement, api_config_, nullptr,
              &bench_.memory);
      with_scope(bench_.loop.domain(), [&](Scope& passing) {
        with_scope(bench_.loop.domain(), [&](Scope& owning) {
          owning_ = &owning;
          owner.serve(owning, handler());
          between.serve(passing, [&](const HttpRequest& request) { return api.handle(request); });
          bench_.on_thread([&] { client(between.port()); });
          between.stop_serving();
          owner.stop_serving();
        });
      });
      EXPECT_EQ(bench_.memory.reads.used(), 0u);
    });
  }

  MemoryBudget owner_memory_{MemoryShares{}};
  ApiConfig api_config_;
  CurlClientConfig calls_;
  Scope* owning_ = nullptr;
};

TEST_F(HttpForwardTest, ALargeBodyPassesThroughAsItIs) {
  manners_.pieces = 2000;
  for (const bool says_length : {true, false}) {
    manners_.says_length = says_length;
    run_forward([&](uint16_t port) {
      RawClient client(port);
      client.send(get("/v1/stream/a", "Connection: close\r\n"));
      const std::string answer = client.to_the_end();
      EXPECT_NE(answer.find("Streams-Forwarded-To"), std::string::npos);
      const std::string body = body_of(answer);
      EXPECT_EQ(says_length ? body : unchunked(body).value_or("cut"), TestSource::all(2000));
    });
  }
}

TEST_F(HttpForwardTest, SmallOnesPassOverOneConnectionManyTimes) {
  manners_.says_length = true;
  run_forward([&](uint16_t port) {
    RawClient client(port);
    for (int i = 0; i < 50; ++i) {
      client.send(get("/v1/stream/a"));
      EXPECT_EQ(body_of(client.response()), TestSource::all(3));
    }
  });
}

TEST_F(HttpForwardTest, ASlowReaderHoldsTheOwnerBack) {
  manners_.pieces = 5000;
  manners_.says_length = true;
  run_forward([&](uint16_t port) {
    RawClient client(port);
    client.send(get("/v1/stream/a"));
    uint64_t before = 0;
    do {
      before = manners_.given;
      std::this_thread::sleep_for(milliseconds(300));
    } while (manners_.given != before);
    EXPECT_LT(manners_.given, 40'000'000u) << "what two kernels' sockets hold, and the window";
    EXPECT_EQ(bench_.memory.reads.used(), 2 * api_config_.forward_body.window_bytes);
    EXPECT_EQ(body_of(client.response()), TestSource::all(5000));
  });
}

TEST_F(HttpForwardTest, AReaderThatLeavesEndsItAtTheOwner) {
  manners_.stall_after = 20;
  manners_.pieces = 30;
  run_forward([&](uint16_t port) {
    {
      RawClient client(port);
      client.send(get("/v1/stream/a"));
      while (manners_.given < 20 * kPiece) std::this_thread::sleep_for(milliseconds(1));
    }
    EXPECT_TRUE(ends());
  });
}

TEST_F(HttpForwardTest, ABodyThatTheOwnerCutsIsCut) {
  manners_.pieces = 30;
  manners_.cut_after = 20;
  for (const bool says_length : {true, false}) {
    manners_.says_length = says_length;
    run_forward([&](uint16_t port) {
      RawClient client(port);
      client.send(get("/v1/stream/a"));
      const std::string answer = client.to_the_end();
      EXPECT_EQ(status_of(answer), "200");
      if (says_length) {
        EXPECT_LT(body_of(answer).size(), 30 * kPiece);
      } else {
        EXPECT_FALSE(unchunked(body_of(answer)));
      }
    });
  }
}

TEST_F(HttpForwardTest, AnOwnerThatEndsInTheMiddleCutsIt) {
  manners_.pieces = 30;
  manners_.stall_after = 20;
  run_forward([&](uint16_t port) {
    RawClient client(port);
    client.send(get("/v1/stream/a"));
    while (manners_.given < 20 * kPiece) std::this_thread::sleep_for(milliseconds(1));
    bench_.loop.post([&] { owning_->cancel(); });
    EXPECT_FALSE(unchunked(body_of(client.to_the_end())));
  });
}

TEST_F(HttpForwardTest, SilenceOfTheOwnerCutsIt) {
  manners_.pieces = 30;
  manners_.stall_after = 20;
  api_config_.forward_body.silence = milliseconds(300);
  run_forward([&](uint16_t port) {
    RawClient client(port);
    client.send(get("/v1/stream/a"));
    EXPECT_FALSE(unchunked(body_of(client.to_the_end())));
    EXPECT_TRUE(ends());
  });
}

TEST_F(HttpForwardTest, MoreBodiesThanTransfersPassAtOnce) {
  manners_.pieces = 20;
  manners_.stall_after = 10;
  run_forward([&](uint16_t port) {
    std::vector<RawClient> readers;
    for (int i = 0; i < 300; ++i) {
      readers.emplace_back(port);
      readers.back().send(get("/v1/stream/a"));
    }
    for (int i = 0; i < 1000 && manners_.open < 300; ++i) {
      std::this_thread::sleep_for(milliseconds(10));
    }
    EXPECT_EQ(manners_.open, 300u);
  });
}

TEST_F(HttpForwardTest, BodiesBeyondTheBoundAreRefusedAndTheNextPasses) {
  calls_.bodies_max = 1;
  manners_.pieces = 20;
  manners_.stall_after = 10;
  run_forward([&](uint16_t port) {
    {
      RawClient first(port);
      first.send(get("/v1/stream/a"));
      while (manners_.given < 2 * kPiece) std::this_thread::sleep_for(milliseconds(1));
      RawClient second(port);
      second.send(get("/v1/stream/a"));
      const std::string refusal = second.response();
      expect_error(refusal, "503", "connections_busy");
      EXPECT_NE(refusal.find("Retry-After: "), std::string::npos) << refusal;
    }
    while (manners_.open > 0) std::this_thread::sleep_for(milliseconds(1));
    manners_.given = 0;
    RawClient third(port);
    third.send(get("/v1/stream/a"));
    while (manners_.given < 2 * kPiece) std::this_thread::sleep_for(milliseconds(1));
  });
}

}  // namespace
}  // namespace morula
