#include "prod/http/http_server.hpp"

#include <malloc.h>

#include "core/base/json.hpp"
#include "tests/prod/http_fixture.hpp"

namespace morula {
namespace {

using std::chrono::milliseconds;

void expect_error(const std::string& response, const std::string& status, const char* code) {
  EXPECT_EQ(status_of(response), status) << response;
  const auto json = Json::parse(body_of(response));
  ASSERT_TRUE(json) << response;
  const Json* error = json->find("error");
  ASSERT_NE(error, nullptr);
  EXPECT_EQ(*error->string_at("code"), code);
  EXPECT_FALSE(error->string_at("message")->empty());
}

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

TEST(HttpServer, ContinueIsSentToWhoWaitsForIt) {
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

TEST(HttpServer, RefusedRequestIsAnsweredAndTheConnectionClosed) {
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

TEST(HttpServer, AnswersThatWereDueComeBeforeTheRefusal) {
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

TEST(HttpServer, TruncatedRequestNeverReachesTheHandler) {
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

TEST(HttpServer, SlowAndIdleClientsAreLetGo) {
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

TEST(HttpServer, ClientThatWaitsForASlowHandlerIsNotLetGo) {
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

TEST(HttpServer, ClientThatDoesNotReadIsLetGo) {
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

TEST(HttpServer, ConnectionsBeyondTheBoundAreToldSo) {
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

TEST(HttpServer, RequestsAndBodiesBeyondTheBoundAreRefused) {
  HttpBench bench;
  bench.config.requests_max = 1;
  bench.config.body_bytes_max = 1'000'000;
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
    RawClient large(port);
    large.send(post(std::string(2'000'000, 'x')));
    expect_error(large.response(), "503", "append_memory_busy");
    bench.loop.post([&] { release.set(); });
    EXPECT_EQ(body_of(held.response()), "GET /held ");
    RawClient fits(port);
    fits.send(post(std::string(900'000, 'x')));
    EXPECT_EQ(status_of(fits.response()), "200");
  });
}

TEST(HttpServer, RequestsAreRefusedWhenNobodyServes) {
  HttpBench bench;
  bench.loop.run_fiber("test", [&] {
    HttpServer server(bench.loop, bench.trace, bench.config);
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
    HttpServer server(bench.loop, bench.trace, bench.config);
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

TEST(HttpServer, IdleConnectionIsARecordOfAKibibyte) {
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

TEST(HttpServer, AddressThatCannotBeListenedOnIsAClearError) {
  HttpBench bench;
  bench.loop.run_fiber("test", [&] {
    HttpServer first(bench.loop, bench.trace, bench.config);
    ASSERT_TRUE(first.listen("127.0.0.1", 0));
    HttpServer second(bench.loop, bench.trace, bench.config);
    const auto taken = second.listen("127.0.0.1", first.port());
    ASSERT_FALSE(taken);
    EXPECT_NE(taken.error().message.find("another process has it"), std::string::npos);
    EXPECT_EQ(second.listen("localhost", 0).error().code, ErrorCode::kInvalid);
    EXPECT_FALSE(second.listen("203.0.113.7", 0));
  });
}

}  // namespace
}  // namespace morula
