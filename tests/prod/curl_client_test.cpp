#include "prod/http/curl_client.hpp"

#include "core/rt/clock.hpp"
#include "tests/prod/http_fixture.hpp"
#include "tests/prod/listening_socket.hpp"

namespace morula {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

std::string base(uint16_t port) {
  return "http://127.0.0.1:" + std::to_string(port);
}

/// A listening socket whose connections the test treats as it likes, in a thread.
class RawServer : public ListeningSocket {
 public:
  /// Reads until the end of a head.
  static std::string read_head(const UniqueFd& fd) {
    std::string head;
    char byte = 0;
    while (head.find("\r\n\r\n") == std::string::npos && ::recv(fd.get(), &byte, 1, 0) == 1) {
      head.push_back(byte);
    }
    return head;
  }
};

HttpRequest request(std::string method, std::string target, std::string body = "") {
  HttpRequest made;
  made.method = std::move(method);
  made.target = std::move(target);
  made.body = std::move(body);
  return made;
}

/// Runs `body` in a fiber with a server that echoes, and a client.
void with_echo(const std::function<void(HttpBench&, HttpServer&, CurlClient&)>& body) {
  HttpBench bench;
  bench.loop.run_fiber("test", [&] {
    HttpServer server(bench.loop, bench.trace, bench.config, bench.memory);
    ASSERT_TRUE(server.listen("127.0.0.1", 0));
    CurlClient client(bench.loop, {});
    with_scope(bench.loop.domain(), [&](Scope& scope) {
      server.serve(scope, [&](const HttpRequest& asked) {
        if (asked.target == "/slow") bench.loop.sleep(seconds(1000));
        HttpResponse response = echo(asked);
        response.status = asked.target == "/teapot" ? 418 : 200;
        for (const auto [name, value] : asked.headers) {
          response.headers.add("Was-" + std::string(name), value);
        }
        return response;
      });
      body(bench, server, client);
      server.stop_serving();
    });
  });
}

TEST(CurlClient, CarriesRequestAndAnswerAsTheyAre) {
  with_echo([](HttpBench& bench, HttpServer& server, CurlClient& client) {
    const Time deadline = bench.loop.now() + seconds(10);
    HttpRequest asked = request("POST", "/a/../b%20c?x=%2F&y", std::string("a\0b", 3));
    asked.headers.add("X-One", "1");
    asked.headers.add("X-Empty", "");
    asked.headers.add("Content-Type", "text/odd");
    const auto answer = client.call(base(server.port()), asked, deadline);
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->status, 200);
    EXPECT_EQ(answer->body, "POST /a/../b%20c?x=%2F&y " + std::string("a\0b", 3));
    EXPECT_EQ(*answer->headers.find("was-x-one"), "1");
    EXPECT_EQ(*answer->headers.find("was-x-empty"), "");
    EXPECT_EQ(*answer->headers.find("was-content-type"), "text/odd");
    EXPECT_FALSE(answer->headers.contains("was-expect"));
    for (const char* method : {"GET", "DELETE", "PUT", "POST", "OPTIONS"}) {
      const auto other = client.call(base(server.port()), request(method, "/x"), deadline);
      ASSERT_TRUE(other) << other.error().message;
      EXPECT_EQ(other->body, std::string(method) + " /x ");
      EXPECT_FALSE(other->headers.contains("was-content-type"));
    }
    const auto head = client.call(base(server.port()), request("HEAD", "/x"), deadline);
    ASSERT_TRUE(head) << head.error().message;
    EXPECT_EQ(head->body, "");
    const auto teapot = client.call(base(server.port()), request("GET", "/teapot"), deadline);
    EXPECT_EQ(teapot->status, 418);
    const auto kept_elsewhere = client.call(base(server.port()), request("PUT", "/x", "not this"),
                                            std::string_view("but this"), deadline);
    EXPECT_EQ(kept_elsewhere->body, "PUT /x but this");
    const std::string large(3'000'000, 'z');
    const auto big = client.call(base(server.port()), request("PUT", "/x", large), deadline);
    ASSERT_TRUE(big) << big.error().message;
    EXPECT_EQ(big->body, "PUT /x " + large);
    EXPECT_EQ(server.connections(), 1u) << "the connection is used again";
  });
}

TEST(CurlClient, ManyCallsRunAtOnce) {
  with_echo([](HttpBench& bench, HttpServer& server, CurlClient& client) {
    int answered = 0;
    with_scope(bench.loop.domain(), [&](Scope& scope) {
      for (int i = 0; i < 600; ++i) {
        scope.spawn("call", [&, i] {
          const std::string target = "/" + std::to_string(i);
          const auto answer = client.call(base(server.port()), request("GET", target),
                                          bench.loop.now() + seconds(30));
          if (answer && answer->body == "GET " + target + " ") ++answered;
        });
      }
      scope.join();
    });
    EXPECT_EQ(answered, 600);
  });
}

TEST(CurlClient, NobodyThereIsCertain) {
  HttpBench bench;
  bench.loop.run_fiber("test", [&] {
    CurlClient client(bench.loop, {});
    const uint16_t port = RawServer().port();  // closed again
    const auto answer =
        client.call(base(port), request("GET", "/"), bench.loop.now() + seconds(10));
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, ErrorCode::kNotFound) << answer.error().message;
    const auto nonsense =
        client.call("nonsense://x", request("GET", "/"), bench.loop.now() + seconds(10));
    EXPECT_EQ(nonsense.error().code, ErrorCode::kInvalid);
  });
}

TEST(CurlClient, DeadlineAndCancellationEndACall) {
  with_echo([](HttpBench& bench, HttpServer& server, CurlClient& client) {
    const Time begun = bench.loop.now();
    const auto answer =
        client.call(base(server.port()), request("GET", "/slow"), begun + milliseconds(100));
    EXPECT_EQ(answer.error().code, ErrorCode::kTimeout);
    EXPECT_LT(bench.loop.now() - begun, seconds(5));
    with_scope(bench.loop.domain(), [&](Scope& scope) {
      scope.spawn("call", [&] {
        (void)client.call(base(server.port()), request("GET", "/slow"), kNever);
        ADD_FAILURE() << "it was cancelled";
      });
      bench.loop.sleep(milliseconds(50));
    });
    EXPECT_TRUE(
        client.call(base(server.port()), request("GET", "/x"), bench.loop.now() + seconds(10)));
  });
}

TEST(CurlClient, SilenceEndsACallThatIsNotGettingOn) {
  HttpBench bench;
  bench.loop.run_fiber("test", [&] {
    const RawServer server;
    std::thread talker([&] {
      const UniqueFd slow = server.accept();
      RawServer::read_head(slow);
      (void)write_all(slow.get(), "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n");
      for (int i = 0; i < 10; ++i) {
        std::this_thread::sleep_for(milliseconds(60));
        (void)write_all(slow.get(), "x");
      }
      const UniqueFd silent = server.accept();
      RawServer::read_head(silent);
      char byte = 0;
      (void)::recv(silent.get(), &byte, 1, 0);  // until the client has had enough
    });
    CurlClient client(bench.loop, {});
    const Time deadline = bench.loop.now() + seconds(30);
    const auto slow =
        client.call(base(server.port()), request("GET", "/"), "", deadline, milliseconds(400));
    ASSERT_TRUE(slow) << slow.error().message;
    EXPECT_EQ(slow->body, "xxxxxxxxxx");
    const Time begun = bench.loop.now();
    const std::string elsewhere = "http://localhost:" + std::to_string(server.port());
    const auto silent =
        client.call(elsewhere, request("GET", "/"), "", deadline, milliseconds(400));
    ASSERT_FALSE(silent);
    EXPECT_EQ(silent.error().code, ErrorCode::kTimeout);
    EXPECT_LT(bench.loop.now() - begun, seconds(10));
    talker.join();
  });
}

TEST(CurlClient, ConnectionThatBreaksAfterTheRequestIsAnUnknownOutcome) {
  HttpBench bench;
  bench.loop.run_fiber("test", [&] {
    const RawServer server;
    std::thread breaker([&] {
      const UniqueFd fd = server.accept();
      RawServer::read_head(fd);
    });
    CurlClient client(bench.loop, {});
    const auto answer =
        client.call(base(server.port()), request("POST", "/", "x"), bench.loop.now() + seconds(10));
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, ErrorCode::kUnavailable) << answer.error().message;
    breaker.join();
  });
}

TEST(CurlClient, RequestIsNotRepeatedWhenAReusedConnectionBreaks) {
  HttpBench bench;
  bench.loop.run_fiber("test", [&] {
    const RawServer server;
    std::atomic<int> requests = 0;
    std::thread breaker([&] {
      const UniqueFd first = server.accept();
      RawServer::read_head(first);
      ++requests;
      (void)write_all(first.get(), "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
      RawServer::read_head(first);  // the second request, carried out but never answered
      ++requests;
    });
    CurlClient client(bench.loop, {});
    const Time deadline = bench.loop.now() + seconds(10);
    EXPECT_TRUE(client.call(base(server.port()), request("DELETE", "/"), deadline));
    const auto second = client.call(base(server.port()), request("DELETE", "/"), deadline);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, ErrorCode::kUnavailable) << second.error().message;
    breaker.join();
    EXPECT_EQ(requests, 2);
  });
}

TEST(CurlClient, AnswerThatIsCutIsAnError) {
  HttpBench bench;
  bench.loop.run_fiber("test", [&] {
    const RawServer server;
    const std::string heads[] = {"HTTP/1.1 200 OK\r\nContent-Length: 2000\r\n\r\n",
                                 "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3e8\r\n"};
    std::thread talker([&] {
      for (const std::string& head : heads) {
        const UniqueFd fd = server.accept();
        RawServer::read_head(fd);
        (void)write_all(fd.get(), head + std::string(1000, 'x'));
      }
    });
    CurlClient client(bench.loop, {});
    for (const std::string& head : heads) {
      const auto cut =
          client.call(base(server.port()), request("GET", "/"), bench.loop.now() + seconds(10));
      ASSERT_FALSE(cut) << head;
      EXPECT_EQ(cut.error().code, ErrorCode::kUnavailable) << cut.error().message;
    }
    talker.join();
  });
}

TEST(CurlClient, AnswerThatIsNoHttpOrTooLongIsAnError) {
  HttpBench bench;
  bench.loop.run_fiber("test", [&] {
    const RawServer server;
    std::thread talker([&] {
      {
        const UniqueFd fd = server.accept();
        RawServer::read_head(fd);
        (void)write_all(fd.get(), "\x16\x03\x01 nonsense\r\n\r\n");
      }
      const UniqueFd fd = server.accept();
      RawServer::read_head(fd);
      (void)write_all(fd.get(),
                      "HTTP/1.1 200 OK\r\nContent-Length: 2000\r\n\r\n" + std::string(2000, 'x'));
    });
    CurlClientConfig config;
    config.response_bytes_max = 1000;
    CurlClient client(bench.loop, config);
    const Time deadline = bench.loop.now() + seconds(10);
    const auto odd = client.call(base(server.port()), request("GET", "/"), deadline);
    EXPECT_EQ(odd.error().code, ErrorCode::kUnavailable) << odd.error().message;
    const auto longer = client.call(base(server.port()), request("GET", "/"), deadline);
    EXPECT_EQ(longer.error().code, ErrorCode::kInvalid) << longer.error().message;
    talker.join();
  });
}

}  // namespace
}  // namespace morula
