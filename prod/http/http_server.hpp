// HTTP/1.1 for clients and for other instances: keep-alive, pipelining, and a bound on everything
// that a client could pile up.
//
// A connection that waits for a request is a record of a few hundred bytes. A complete request runs
// the handler in a fiber; one that isn't complete never gets there. Answers go out in the order of
// their requests. What can't be accepted is answered with a status and a JSON error, then the
// connection is closed, after the client had a moment to read it.
//
// A body in pieces is pulled by the request's fiber, one piece whenever the client has taken the
// last. If it is cut, the connection is closed before its end; if the client goes away, the source
// is dropped at once. (A client that only ends its own sending counts as gone where the length
// isn't known: a live tail would go on for nobody.)
//
// Memory is the budget's: a body that says its length is refused before it is read, another one as
// it grows; an answer counts until the client has taken it, and who doesn't take one gets no other.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/base/memory_budget.hpp"
#include "core/base/result.hpp"
#include "core/rt/network.hpp"
#include "core/rt/trace.hpp"
#include "prod/http/http_parser.hpp"
#include "prod/loop.hpp"
#include "prod/posix_file.hpp"

namespace morula {

struct HttpServerConfig {
  HttpLimits limits;
  size_t connections_max = 8192;  // beyond it 503 and close
  size_t refused_max = 256;       // that are told so at once; beyond these, just closed
  size_t requests_max = 4096;     // under way at once, a fiber each; beyond it 503
  size_t pipelined_max = 16;      // of one connection; beyond it its bytes wait
  Duration idle_timeout = std::chrono::seconds(75);  // between requests
  Duration head_timeout = std::chrono::seconds(10);  // from a head's first byte to its last
  Duration body_timeout = std::chrono::seconds(20);  // and a second more for each of these:
  uint64_t body_bytes_per_second_min = 32 * kKiB;
  Duration write_timeout = std::chrono::seconds(30);  // without a byte taken by the client
  Duration linger = std::chrono::seconds(2);          // for a refused client to read why
};

class HttpConnection;

class HttpServer final : private FdEvents {
 public:
  /// What a connection takes that waits for a request, and one more for a request under way.
  /// Bounds, not averages: a connection that has sent nothing was measured at 0.2 KiB.
  static constexpr uint64_t kConnectionBytes = kKiB;
  static constexpr uint64_t kRequestBytes = 16 * kKiB;

  /// All outlive it. `memory` has set enough aside for the connections and requests of `config`.
  HttpServer(Loop& loop, Trace& trace, const HttpServerConfig& config, MemoryBudget& memory);
  /// Closes all connections. No handler may be running.
  ~HttpServer() override;

  /// Binds and listens. `host` is an address, not a name; `port` 0: one that is free. kInvalid: no
  /// address; kDenied: the port is not for this user; kUnavailable: it is taken.
  Result<> listen(const std::string& host, uint16_t port);
  uint16_t port() const { return port_; }

  /// See Network.
  void serve(Scope& scope, Network::Handler handler);
  void stop_serving();

  size_t connections() const { return connections_.size(); }
  size_t requests_under_way() const { return running_; }

 private:
  friend class HttpConnection;
  struct Serving {
    Scope& scope;
    Network::Handler handler;
  };

  void on_readable() override;
  void on_writable() override {}
  void accept_some();
  void pause_accepting();
  void sweep();
  /// The connection's answers of this turn go out at its end.
  void flush_later(HttpConnection* connection);
  void flush_connections();
  void bury(HttpConnection* connection);
  /// Parsers are lent for the time that a request takes to arrive.
  std::unique_ptr<HttpParser> take_parser();
  void give_back(std::unique_ptr<HttpParser> parser);
  /// Loop::defer, unless the server is gone by then.
  void defer(std::function<void()> action);
  void renew_date();

  Loop& loop_;
  Trace& trace_;
  const HttpServerConfig config_;
  MemoryBudget& memory_;
  UniqueFd listener_;
  std::unique_ptr<FdWatch> watch_;
  uint16_t port_ = 0;
  std::map<HttpConnection*, std::unique_ptr<HttpConnection>> connections_;
  std::shared_ptr<const Serving> serving_;  // null: requests are refused
  size_t running_ = 0;
  Clock::TimerId sweep_timer_ = 0;
  Clock::TimerId accept_timer_ = 0;
  int64_t date_second_ = -1;
  std::string date_;  // as of this turn
  // What connections read into and write from, one after the other.
  std::unique_ptr<char[]> read_buffer_;
  std::string write_buffer_;
  std::vector<HttpConnection*> to_flush_;
  std::vector<HttpConnection*> flushing_;
  std::vector<std::unique_ptr<HttpParser>> parsers_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace morula
