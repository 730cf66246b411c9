#include "prod/http/http_server.hpp"

#include <gtest/gtest.h>

#include "tests/prod/http_fixture.hpp"

namespace morula {
namespace {

using std::chrono::milliseconds;

TEST(HttpServer, AnswersOnAKeptConnection) {
  HttpBench bench;
  bench.run(echo, [](uint16_t port) {
    RawClient client(port);
    for (int i = 0; i < 5; ++i) {
      client.send(get("/" + std::to_string(i)));
      const std::string response = client.response();
      EXPECT_EQ(status_of(response), "200");
      EXPECT_EQ(body_of(response), "GET /" + std::to_string(i) + " ");
      EXPECT_NE(response.find("Content-Type: text/plain\r\n"), std::string::npos);
      EXPECT_NE(response.find(" GMT\r\n"), std::string::npos);
    }
    client.send(post("some body"));
    EXPECT_EQ(body_of(client.response()), "POST /p some body");
  });
}

TEST(HttpServer, PipelinedRequestsAreAnsweredInOrderThoughHandlersOvertake) {
  HttpBench bench;
  bench.config.pipelined_max = 4;
  size_t most_at_once = 0;
  size_t at_once = 0;
  const auto handler = [&](const HttpRequest& request) {
    most_at_once = std::max(most_at_once, ++at_once);
    // The first ones take longest.
    bench.loop.sleep(milliseconds(40 / (1 + std::stoi(request.target.substr(1)))));
    --at_once;
    return echo(request);
  };
  bench.run(handler, [](uint16_t port) {
    RawClient client(port);
    std::string all;
    for (int i = 0; i < 20; ++i) all += get("/" + std::to_string(i));
    client.send(all);
    for (int i = 0; i < 20; ++i) {
      EXPECT_EQ(body_of(client.response()), "GET /" + std::to_string(i) + " ");
    }
  });
  EXPECT_EQ(most_at_once, 4u);
}

TEST(HttpServer, LargeBodiesGoBothWays) {
  HttpBench bench;
  bench.run(echo, [](uint16_t port) {
    RawClient client(port);
    const std::string body(4'000'000, 'x');
    for (int i = 0; i < 3; ++i) {
      client.send(post(body));
      EXPECT_EQ(body_of(client.response()).size(), body.size() + 8);
    }
    std::string chunked = "POST /p HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (int i = 0; i < 100; ++i) chunked += "3E8\r\n" + std::string(1000, 'y') + "\r\n";
    client.send(chunked + "0\r\n\r\n");
    EXPECT_EQ(body_of(client.response()).size(), 100'008u);
  });
}

TEST(HttpServer, HeadAndEmptyResponsesHaveNoBody) {
  HttpBench bench;
  const auto handler = [](const HttpRequest& request) {
    HttpResponse response;
    if (request.target == "/gone") response.status = 204;
    response.body = "twelve bytes";
    return response;
  };
  bench.run(handler, [](uint16_t port) {
    RawClient client(port);
    client.send("HEAD /a HTTP/1.1\r\nHost: x\r\n\r\n" + get("/gone") +
                get("/b", "Connection: close\r\n"));
    const std::string all = client.to_the_end();
    EXPECT_NE(all.find("Content-Length: 12\r\n\r\nHTTP/1.1 204"), std::string::npos) << all;
    EXPECT_EQ(all.find("twelve bytes"), all.rfind("twelve bytes"));
    EXPECT_TRUE(all.ends_with("Connection: close\r\n\r\ntwelve bytes"));
  });
}

TEST(HttpServer, HandlersHeadersCannotBreakTheFraming) {
  HttpBench bench;
  const auto handler = [](const HttpRequest&) {
    HttpResponse response;
    response.headers.add("X-Text", "a\r\nContent-Length: 0\r\n\r\nHTTP/1.1 200 OK");
    response.headers.add("content-length", "3");
    response.headers.add("Transfer-Encoding", "chunked");
    response.body = "whole";
    return response;
  };
  bench.run(handler, [](uint16_t port) {
    RawClient client(port);
    client.send(get("/", "Connection: close\r\n"));
    const std::string all = client.to_the_end();
    EXPECT_EQ(all.find("chunked"), std::string::npos);
    EXPECT_NE(all.find("\r\nContent-Length: 5\r\n"), std::string::npos) << all;
    EXPECT_EQ(body_of(all), "whole");
  });
}

TEST(HttpServer, ClientThatOnlyStopsSendingGetsItsAnswers) {
  HttpBench bench;
  const auto handler = [&](const HttpRequest& request) {
    bench.loop.sleep(milliseconds(20));
    return echo(request);
  };
  bench.run(handler, [](uint16_t port) {
    RawClient client(port);
    client.send(get("/a") + get("/b"));
    client.finish_sending();
    EXPECT_EQ(body_of(client.response()), "GET /a ");
    EXPECT_EQ(body_of(client.response()), "GET /b ");
    EXPECT_TRUE(client.closed());
  });
}

TEST(HttpServer, RequestsAreRefusedWhenNobodyServes) {
  HttpBench bench;
  bench.loop.run_fiber("test", [&] {
    HttpServer server(bench.loop, bench.trace, bench.config, bench.memory);
    ASSERT_TRUE(server.listen("127.0.0.1", 0));
    bench.on_thread([&] {
      RawClient client(server.port());
      client.send(get("/a"));
      expect_error(client.response(), "503", "not_serving");
      client.send(get("/b"));
      expect_error(client.response(), "503", "not_serving");
    });
  });
}

TEST(HttpServer, CancelledHandlersClientGetsNoAnswer) {
  HttpBench bench;
  bench.loop.run_fiber("test", [&] {
    HttpServer server(bench.loop, bench.trace, bench.config, bench.memory);
    ASSERT_TRUE(server.listen("127.0.0.1", 0));
    Event arrived;
    Scope scope(bench.loop.domain());
    server.serve(scope, [&](const HttpRequest& request) {
      arrived.set();
      bench.loop.sleep(std::chrono::hours(1));
      return echo(request);
    });
    RawClient client(server.port());
    client.send(get("/a"));
    arrived.wait();
    server.stop_serving();
    scope.close();
    bench.on_thread([&] { EXPECT_TRUE(client.closed()); });
  });
}

TEST(HttpServer, ClientThatLeavesHarmsNoHandler) {
  HttpBench bench;
  int finished = 0;
  const auto handler = [&](const HttpRequest& request) {
    bench.loop.sleep(milliseconds(50));
    ++finished;
    return echo(request);
  };
  bench.run(handler, [](uint16_t port) {
    for (int i = 0; i < 10; ++i) {
      RawClient client(port);
      client.send(get("/a") + get("/b"));
    }
    std::this_thread::sleep_for(milliseconds(300));
  });
  EXPECT_EQ(finished, 20);
  EXPECT_EQ(bench.left_open, 0u);
}

TEST(HttpServer, AddressThatCannotBeListenedOnIsAClearError) {
  HttpBench bench;
  bench.loop.run_fiber("test", [&] {
    HttpServer first(bench.loop, bench.trace, bench.config, bench.memory);
    ASSERT_TRUE(first.listen("127.0.0.1", 0));
    HttpServer second(bench.loop, bench.trace, bench.config, bench.memory);
    const auto taken = second.listen("127.0.0.1", first.port());
    ASSERT_FALSE(taken);
    EXPECT_NE(taken.error().message.find("another process has it"), std::string::npos);
    EXPECT_EQ(second.listen("localhost", 0).error().code, ErrorCode::kInvalid);
    EXPECT_FALSE(second.listen("203.0.113.7", 0));
  });
}

}  // namespace
}  // namespace morula
