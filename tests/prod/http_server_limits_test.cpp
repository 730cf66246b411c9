// Whom the server lets go, and whom it lets wait: time, room and memory have bounds.
#include <gtest/gtest.h>
#include <malloc.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/prod/http_fixture.hpp"

namespace morula {
namespace {

using std::chrono::milliseconds;

TEST(HttpServerLimits, SlowAndIdleClientsAreLetGo) {
  HttpBench bench;
  bench.config.head_timeout = milliseconds(300);
  bench.config.body_timeout = milliseconds(300);
  bench.config.idle_timeout = milliseconds(300);
  bench.run(echo, [](uint16_t port) {
    RawClient silent(port);
    RawClient slow_head(port);
    slow_head.send("GET / HTTP/1.1\r\n");
    RawClient slow_body(port);
    slow_body.send("POST /p HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf");
    RawClient idle(port);
    idle.send(get("/"));
    EXPECT_EQ(status_of(idle.response()), "200");
    EXPECT_TRUE(silent.closed());
    expect_error(slow_head.response(), "408", "too_slow");
    expect_error(slow_body.response(), "408", "too_slow");
    EXPECT_TRUE(idle.closed());
  });
}

TEST(HttpServerLimits, ClientThatWaitsForASlowHandlerIsNotLetGo) {
  HttpBench bench;
  bench.config.head_timeout = milliseconds(100);
  bench.config.idle_timeout = milliseconds(100);
  const auto handler = [&](const HttpRequest& request) {
    bench.loop.sleep(milliseconds(800));
    return echo(request);
  };
  bench.run(handler, [](uint16_t port) {
    RawClient client(port);
    client.send(get("/slow"));
    EXPECT_EQ(body_of(client.response()), "GET /slow ");
  });
}

TEST(HttpServerLimits, ABodyThatWeWereLateToReadHasItsTime) {
  HttpBench bench;
  bench.config.body_timeout = milliseconds(1000);
  const auto handler = [](const HttpRequest& request) {
    HttpResponse response;
    response.body.assign(request.method == "GET" ? 20'000'000 : 1, 'x');
    return response;
  };
  bench.run(handler, [](uint16_t port) {
    RawClient client(port);
    client.send(get("/a") + "POST /p HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nha");
    std::this_thread::sleep_for(milliseconds(200));
    client.send("l");  // it is not read before the answer has gone
    std::this_thread::sleep_for(milliseconds(1300));
    EXPECT_EQ(body_of(client.response()).size(), 20'000'000u);
    std::this_thread::sleep_for(milliseconds(400));
    client.send("f");
    EXPECT_EQ(status_of(client.response()), "200");
  });
}

TEST(HttpServerLimits, ClientThatDoesNotReadIsLetGo) {
  HttpBench bench;
  bench.config.write_timeout = milliseconds(300);
  const auto handler = [](const HttpRequest&) {
    HttpResponse response;
    response.body.assign(50'000'000, 'x');
    return response;
  };
  bench.run(handler, [](uint16_t port) {
    RawClient client(port);
    client.send(get("/"));
    std::this_thread::sleep_for(milliseconds(1200));
    EXPECT_LT(client.to_the_end().size(), 50'000'000u);
  });
}

TEST(HttpServerLimits, ConnectionsBeyondTheBoundAreToldSo) {
  HttpBench bench;
  bench.config.connections_max = 2;
  bench.run(echo, [](uint16_t port) {
    RawClient a(port);
    a.send(get("/a"));
    EXPECT_EQ(status_of(a.response()), "200");
    {
      RawClient b(port);
      b.send(get("/b"));
      EXPECT_EQ(status_of(b.response()), "200");
      RawClient c(port);
      expect_error(c.response(), "503", "connections_busy");
      EXPECT_TRUE(c.closed());
      a.send(get("/a"));
      EXPECT_EQ(status_of(a.response()), "200");
    }
    const auto is_served = [&] {
      RawClient d(port);
      d.send(get("/d"));
      return status_of(d.response()) == "200";
    };
    for (int i = 0; i < 100; ++i) {
      if (is_served()) return;
      std::this_thread::sleep_for(milliseconds(20));
    }
    ADD_FAILURE() << "a place never became free";
  });
}

MemoryShares shares_with(uint64_t left) {
  MemoryShares shares;
  shares.limit = shares.set_aside() + left;
  return shares;
}

TEST(HttpServerLimits, ABodyThatMemoryHasNoRoomForIsRefusedBeforeItIsRead) {
  HttpBench bench(shares_with(4'000'000));  // of which bodies get 3 MB, for two copies of each
  bench.run(echo, [&](uint16_t port) {
    RawClient announced(port);
    announced.send("POST /p HTTP/1.1\r\nHost: x\r\nContent-Length: 2000000\r\n\r\n");
    const std::string refusal = announced.response();
    expect_error(refusal, "503", "append_memory_busy");
    EXPECT_NE(refusal.find("Retry-After: 1\r\n"), std::string::npos) << refusal;
    EXPECT_TRUE(announced.closed());
    RawClient growing(port);
    growing.send("POST /p HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n200000\r\n");
    growing.send(std::string(2'000'000, 'x'));
    expect_error(growing.response(), "503", "append_memory_busy");
    RawClient fits(port);
    fits.send(post(std::string(1'200'000, 'x')));
    EXPECT_EQ(status_of(fits.response()), "200");
  });
  EXPECT_EQ(bench.memory.refusals(MemoryRefusal::kAppendMemoryBusy), 2u);
  EXPECT_EQ(bench.memory.bodies.used(), 0u);
  EXPECT_EQ(bench.memory.requests.used(), 0u);
}

TEST(HttpServerLimits, AProcessThatIsTooLargeTakesNoBodies) {
  HttpBench bench;
  bench.memory.note_resident(bench.memory.memory.limit() + 1);
  bench.run(echo, [&](uint16_t port) {
    RawClient client(port);
    client.send(post("words"));
    expect_error(client.response(), "503", "rss_shed");
    RawClient reader(port);
    reader.send(get("/a"));
    EXPECT_EQ(status_of(reader.response()), "200");
  });
  EXPECT_EQ(bench.memory.refusals(MemoryRefusal::kRssShed), 1u);
}

TEST(HttpServerLimits, AnAnswerCountsUntilItIsTakenAndWhoDoesNotTakeItGetsNoOther) {
  HttpBench bench;
  int asked = 0;
  const auto handler = [&](const HttpRequest&) {
    ++asked;
    HttpResponse response;
    response.body.assign(20'000'000, 'x');
    response.body_memory =
        std::make_shared<MemoryReservation>(bench.memory.reads.hold(response.body.size()));
    return response;
  };
  bench.run(handler, [&](uint16_t port) {
    RawClient client(port);
    client.send(get("/a"));
    std::this_thread::sleep_for(milliseconds(200));
    client.send(get("/b"));
    std::this_thread::sleep_for(milliseconds(200));
    bench.loop.post([&] {
      EXPECT_EQ(asked, 1);
      EXPECT_EQ(bench.memory.reads.used(), 20'000'000u);
    });
    EXPECT_EQ(body_of(client.response()).size(), 20'000'000u);
    EXPECT_EQ(body_of(client.response()).size(), 20'000'000u);
  });
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(bench.memory.reads.used(), 0u);
}

TEST(HttpServerLimits, RequestsBeyondTheBoundAreRefused) {
  HttpBench bench;
  bench.config.requests_max = 1;
  Event release;
  const auto handler = [&](const HttpRequest& request) {
    if (request.target == "/held") release.wait();
    return echo(request);
  };
  bench.run(handler, [&](uint16_t port) {
    RawClient held(port);
    held.send(get("/held"));
    for (int i = 0; i < 100; ++i) {  // until it has arrived
      RawClient other(port);
      other.send(get("/other"));
      const std::string response = other.response();
      if (status_of(response) == "503") {
        expect_error(response, "503", "busy");
        break;
      }
    }
    bench.loop.post([&] { release.set(); });
    EXPECT_EQ(body_of(held.response()), "GET /held ");
  });
}

TEST(HttpServerLimits, IdleConnectionIsARecordOfAKibibyte) {
  HttpBench bench;
  bench.run([](const HttpRequest&) { return HttpResponse(); },
            [&](uint16_t port) {
              const auto heap = [] { return ::mallinfo2().uordblks; };
              constexpr size_t kConnections = 400;
              std::vector<std::unique_ptr<RawClient>> clients;
              const auto use_once = [&](RawClient& client) {
                client.send(post(std::string(5000, 'x')));
                EXPECT_EQ(status_of(client.response()), "200");
              };
              RawClient warm(port);
              use_once(warm);
              clients.reserve(kConnections);
              const size_t before = heap();
              for (size_t i = 0; i < kConnections; ++i) {
                clients.push_back(std::make_unique<RawClient>(port));
                use_once(*clients.back());
              }
              if (before == 0) return;  // a sanitizer's heap tells nothing
              EXPECT_LT((heap() - before) / kConnections, 1024u);
            });
}

}  // namespace
}  // namespace morula
