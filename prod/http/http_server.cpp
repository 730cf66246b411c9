#include "prod/http/http_server.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "core/base/check.hpp"
#include "core/base/units.hpp"
#include "prod/http/http_connection.hpp"

namespace morula {
namespace {

constexpr size_t kReadBytes = 64 * kKiB;
constexpr int kBacklog = 1024;
constexpr int kAcceptsPerTurn = 64;
constexpr Duration kSweepInterval = std::chrono::milliseconds(250);
constexpr Duration kAcceptPause = std::chrono::milliseconds(100);
// Parsers that are kept for the next requests.
constexpr size_t kParsersMax = 64;

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t length = 0;
};

bool parse_address(const std::string& host, uint16_t port, SocketAddress& out) {
  auto* v4 = reinterpret_cast<sockaddr_in*>(&out.storage);
  if (::inet_pton(AF_INET, host.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
    out.length = sizeof(sockaddr_in);
    return true;
  }
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&out.storage);
  if (::inet_pton(AF_INET6, host.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(port);
    out.length = sizeof(sockaddr_in6);
    return true;
  }
  return false;
}

Error listen_error(const std::string& host, uint16_t port) {
  std::string hint;
  if (errno == EADDRINUSE) hint = "; another process has it, choose another --listen port";
  if (errno == EADDRNOTAVAIL) hint = "; this machine has no such address";
  if (errno == EACCES) hint = "; ports below 1024 need a permission";
  const ErrorCode code = errno == EACCES ? ErrorCode::kDenied : ErrorCode::kUnavailable;
  return Error{
      code, fmt::format("cannot listen on {}:{}: {}{}", host, port, strerrordesc_np(errno), hint)};
}

}  // namespace

HttpServer::HttpServer(Loop& loop, Trace& trace, const HttpServerConfig& config,
                       MemoryBudget& memory)
    : loop_(loop),
      trace_(trace),
      config_(config),
      memory_(memory),
      read_buffer_(new char[kReadBytes]) {}

HttpServer::~HttpServer() {
  MORULA_CHECK(running_ == 0, "a handler's scope must be closed before its server");
  loop_.disarm(sweep_timer_);
  loop_.disarm(accept_timer_);
}

Result<> HttpServer::listen(const std::string& host, uint16_t port) {
  SocketAddress address;
  if (!parse_address(host, port, address)) {
    return fail(ErrorCode::kInvalid, fmt::format("\"{}\" is no IP address to listen on", host));
  }
  const int family = address.storage.ss_family;
  listener_.reset(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!listener_) return fail(listen_error(host, port));
  const int on = 1;
  ::setsockopt(listener_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  auto* raw = reinterpret_cast<sockaddr*>(&address.storage);
  if (::bind(listener_.get(), raw, address.length) != 0 ||
      ::listen(listener_.get(), kBacklog) != 0 ||
      ::getsockname(listener_.get(), raw, &address.length) != 0) {
    return fail(listen_error(host, port));
  }
  port_ = ntohs(family == AF_INET ? reinterpret_cast<sockaddr_in*>(raw)->sin_port
                                  : reinterpret_cast<sockaddr_in6*>(raw)->sin6_port);
  watch_ = std::make_unique<FdWatch>(loop_, listener_.get(), static_cast<FdEvents&>(*this));
  watch_->await_readable();
  sweep();
  return {};
}

void HttpServer::serve(Scope& scope, Network::Handler handler) {
  serving_ = std::make_shared<const Serving>(Serving{scope, std::move(handler)});
}

void HttpServer::stop_serving() {
  serving_.reset();
}

void HttpServer::on_readable() {
  accept_some();
}

void HttpServer::accept_some() {
  for (int i = 0; i < kAcceptsPerTurn; ++i) {
    UniqueFd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!fd) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
        return pause_accepting();
      }
      break;
    }
    if (connections_.size() >= config_.connections_max + config_.refused_max) continue;
    const int on = 1;
    ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    auto owned = std::make_unique<HttpConnection>(*this, std::move(fd));
    HttpConnection* connection = owned.get();
    connections_.emplace(connection, std::move(owned));
    if (connections_.size() > config_.connections_max) {
      connection->refuse(503, "connections_busy", "too many connections; try again later");
    } else {
      connection->start();
    }
  }
  watch_->await_readable();
}

void HttpServer::pause_accepting() {
  trace_.log(Severity::kWarning, "accepting_paused",
             {{"why", strerrordesc_np(errno)}, {"connections", uint64_t{connections_.size()}}});
  accept_timer_ = loop_.arm(
      loop_.now() + kAcceptPause,
      [](void* server) { static_cast<HttpServer*>(server)->watch_->await_readable(); }, this);
}

void HttpServer::sweep() {
  const Time now = loop_.now();
  // A connection that closes leaves the map only once the loop has its turn.
  for (const auto& [connection, owned] : connections_) connection->check_deadlines(now);
  sweep_timer_ = loop_.arm(
      now + kSweepInterval, [](void* server) { static_cast<HttpServer*>(server)->sweep(); }, this);
}

void HttpServer::flush_later(HttpConnection* connection) {
  if (to_flush_.empty()) defer([this] { flush_connections(); });
  to_flush_.push_back(connection);
}

void HttpServer::flush_connections() {
  // Those that close meanwhile, or had before, are buried after this.
  flushing_.swap(to_flush_);
  renew_date();
  for (HttpConnection* connection : flushing_) connection->flush();
  flushing_.clear();
}

std::unique_ptr<HttpParser> HttpServer::take_parser() {
  if (parsers_.empty()) return std::make_unique<HttpParser>(config_.limits);
  auto parser = std::move(parsers_.back());
  parsers_.pop_back();
  return parser;
}

void HttpServer::give_back(std::unique_ptr<HttpParser> parser) {
  if (!parser || parsers_.size() >= kParsersMax) return;
  parser->reset();
  parsers_.push_back(std::move(parser));
}

void HttpServer::bury(HttpConnection* connection) {
  // It is still on the stack.
  defer([this, connection] { connections_.erase(connection); });
}

void HttpServer::defer(std::function<void()> action) {
  loop_.defer([alive = std::weak_ptr<bool>(alive_), action = std::move(action)] {
    if (alive.lock()) action();
  });
}

void HttpServer::renew_date() {
  const WallTime wall = loop_.wall();
  if (wall.ms / 1000 == date_second_) return;
  date_second_ = wall.ms / 1000;
  date_ = http_date(wall);
}

}  // namespace morula
