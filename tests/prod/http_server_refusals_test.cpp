// Requests that are no requests: refused, and nothing behind them is taken for another.
#include <gtest/gtest.h>

#include <string>

#include "tests/prod/http_fixture.hpp"

namespace morula {
namespace {

using std::chrono::milliseconds;

TEST(HttpServerRefusals, ContinueIsSentToWhoWaitsForIt) {
  HttpBench bench;
  bench.config.limits.body_bytes_max = 100;
  bench.run(echo, [](uint16_t port) {
    RawClient client(port);
    client.send("POST /p HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n");
    EXPECT_EQ(client.response(), "HTTP/1.1 100 Continue\r\n\r\n");
    client.send("body");
    EXPECT_EQ(body_of(client.response()), "POST /p body");
    client.send(
        "POST /p HTTP/1.1\r\nHost: x\r\nContent-Length: 101\r\nExpect: 100-continue\r\n\r\n");
    expect_error(client.response(), "413", "body_too_large");
    EXPECT_TRUE(client.closed());
  });
}

TEST(HttpServerRefusals, RefusedRequestIsAnsweredAndTheConnectionClosed) {
  HttpBench bench;
  int handled = 0;
  const auto handler = [&](const HttpRequest& request) {
    ++handled;
    return echo(request);
  };
  bench.run(handler, [](uint16_t port) {
    const auto ask = [&](const std::string& bytes) {
      RawClient client(port);
      client.send(bytes);
      std::string response = client.response();
      EXPECT_TRUE(client.closed()) << bytes.substr(0, 60);
      return response;
    };
    expect_error(ask("nonsense\r\n\r\n"), "400", "bad_request");
    expect_error(ask(get("/", "A: " + std::string(20'000, 'x') + "\r\n")), "431", "head_too_large");
    expect_error(ask("POST /p HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n"
                     "Transfer-Encoding: chunked\r\n\r\nabc"),
                 "400", "bad_request");
    // The client is still sending what nobody reads.
    expect_error(ask(post(std::string(10'000'000, 'x'))), "413", "body_too_large");
    // What follows a refused request is not taken for another.
    expect_error(
        ask("POST /p HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n" + get("/smuggled")),
        "400", "bad_request");
  });
  EXPECT_EQ(handled, 0);
}

TEST(HttpServerRefusals, AnswersThatWereDueComeBeforeTheRefusal) {
  HttpBench bench;
  const auto handler = [&](const HttpRequest& request) {
    bench.loop.sleep(milliseconds(10));
    return echo(request);
  };
  bench.run(handler, [](uint16_t port) {
    RawClient client(port);
    client.send(get("/first") + get("/second") + "nonsense\r\n\r\n");
    EXPECT_EQ(body_of(client.response()), "GET /first ");
    EXPECT_EQ(body_of(client.response()), "GET /second ");
    expect_error(client.response(), "400", "bad_request");
    EXPECT_TRUE(client.closed());
  });
}

TEST(HttpServerRefusals, TruncatedRequestNeverReachesTheHandler) {
  HttpBench bench;
  int handled = 0;
  const auto handler = [&](const HttpRequest& request) {
    ++handled;
    return echo(request);
  };
  bench.run(handler, [](uint16_t port) {
    for (const std::string& bytes :
         {std::string("GET / HT"), std::string("GET / HTTP/1.1\r\nHost: x\r\n"),
          std::string("POST /p HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf"),
          std::string("POST /p HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhe"),
          std::string("POST /p HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
                      "5\r\nhello\r\n")}) {
      RawClient client(port);
      client.send(bytes);
      client.finish_sending();
      expect_error(client.response(), "400", "truncated");
      EXPECT_TRUE(client.closed());
    }
  });
  EXPECT_EQ(handled, 0);
}

}  // namespace
}  // namespace morula
