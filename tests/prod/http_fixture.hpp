// An HttpServer on a free port of loopback, and a blocking client that sends bytes as they are.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <functional>
#include <string>
#include <thread>

#include "core/base/json.hpp"
#include "core/rt/sync.hpp"
#include "prod/http/http_server.hpp"
#include "prod/log_trace.hpp"
#include "prod/loop.hpp"
#include "prod/posix_file.hpp"

namespace morula {

/// A client's connection. For a thread of its own.
class RawClient {
 public:
  explicit RawClient(uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const timeval patience{10, 0};
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(fd_.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) {
      ADD_FAILURE() << "cannot connect: " << strerrordesc_np(errno);
    }
  }

  void send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t n = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n <= 0) return;  // the server has had enough
      bytes.remove_prefix(static_cast<size_t>(n));
    }
  }
  void finish_sending() const { ::shutdown(fd_.get(), SHUT_WR); }

  /// One response: head and body, by its Content-Length. What there is when the server closes.
  std::string response() {
    size_t end = std::string::npos;
    while ((end = received_.find("\r\n\r\n")) == std::string::npos) {
      if (!receive()) return std::exchange(received_, {});
    }
    end += 4;
    const size_t length_at = received_.find("Content-Length: ");
    if (length_at < end) end += std::stoul(received_.substr(length_at + 16));
    while (received_.size() < end && receive()) {
    }
    std::string response = received_.substr(0, end);
    received_.erase(0, end);
    return response;
  }
  /// Everything until the server closes.
  std::string to_the_end() {
    while (receive()) {
    }
    return std::exchange(received_, {});
  }
  /// True when the server has closed and nothing is left.
  bool closed() { return received_.empty() && !receive(); }
  /// The connection has ended with an error.
  bool was_reset() const { return reset_; }

 private:
  bool receive() {
    char buffer[65536];
    const ssize_t n = ::recv(fd_.get(), buffer, sizeof(buffer), 0);
    if (n < 0 && errno == ECONNRESET) reset_ = true;
    if (n <= 0) return false;
    received_.append(buffer, static_cast<size_t>(n));
    return true;
  }

  UniqueFd fd_;
  std::string received_;
  bool reset_ = false;
};

inline std::string body_of(const std::string& response) {
  const size_t end = response.find("\r\n\r\n");
  return end == std::string::npos ? "" : response.substr(end + 4);
}

inline std::string status_of(const std::string& response) {
  return response.size() < 12 ? "none" : response.substr(9, 3);
}

/// The response is a refusal: this status, and an error in JSON with this code.
inline void expect_error(const std::string& response, const std::string& status, const char* code) {
  EXPECT_EQ(status_of(response), status) << response;
  const auto json = Json::parse(body_of(response));
  ASSERT_TRUE(json) << response;
  const Json* error = json->find("error");
  ASSERT_NE(error, nullptr);
  EXPECT_EQ(*error->string_at("code"), code);
  EXPECT_FALSE(error->string_at("message")->empty());
}

class HttpBench {
 public:
  explicit HttpBench(const MemoryShares& shares = {}) : memory(shares) {}

  HttpServerConfig config;
  MemoryBudget memory;

  /// Serves by `handler` while `client` runs in a thread, in which it may block.
  void run(const Network::Handler& handler, const std::function<void(uint16_t port)>& client) {
    loop.run_fiber("test", [&] {
      HttpServer server(loop, trace, config, memory);
      const auto listening = server.listen("127.0.0.1", 0);
      ASSERT_TRUE(listening) << listening.error().message;
      with_scope(loop.domain(), [&](Scope& scope) {
        server.serve(scope, handler);
        on_thread([&] { client(server.port()); });
        server.stop_serving();
        left_open = server.connections();
      });
    });
  }

  /// Suspends the fiber until `body` has run in a thread.
  void on_thread(const std::function<void()>& body) {
    const Completion<bool> done;
    std::thread thread([&] {
      body();
      loop.post([done] { done.complete(true); });
    });
    done.wait_uncancellable();
    thread.join();
  }

  Loop loop;
  LogTrace trace{Severity::kError, LogFormat::kLogfmt};
  size_t left_open = 0;
};

/// Answers with what it was asked.
inline HttpResponse echo(const HttpRequest& request) {
  HttpResponse response;
  response.headers.add("Content-Type", "text/plain");
  response.body = request.method + " " + request.target + " " + request.body;
  return response;
}

inline std::string get(const std::string& target, const std::string& more = "") {
  return "GET " + target + " HTTP/1.1\r\nHost: x\r\n" + more + "\r\n";
}

inline std::string post(const std::string& body, const std::string& more = "") {
  return "POST /p HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" +
         more + "\r\n" + body;
}

}  // namespace morula
