#include "bench/load/idle_run.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <memory>
#include <vector>

#include "bench/load/connection.hpp"
#include "bench/load/process_usage.hpp"

namespace morula::load {
namespace {

constexpr int kAnswerTimeoutMs = 5000;
constexpr unsigned kRestMicroseconds = 1'000'000;
// Buffers and pools that the first connections fill belong to all of them.
constexpr size_t kWarmUp = 16;

Result<> ask_once(Connection& connection, std::vector<char>& buffer) {
  connection.begin(Operation::kRead, 0, 0);
  if (connection.send() != Connection::Io::kDone) {
    return fail(ErrorCode::kUnavailable, "the server takes no request");
  }
  Result<> outcome;
  while (connection.under_way() > 0) {
    pollfd waits{connection.fd(), POLLIN, 0};
    if (::poll(&waits, 1, kAnswerTimeoutMs) <= 0) {
      return fail(ErrorCode::kUnavailable, "the server does not answer");
    }
    const auto io = connection.receive(buffer, [&](const InFlight&, const Reply& reply) {
      if (reply.status < 200 || reply.status > 299) {
        outcome = fail(ErrorCode::kInvalid, fmt::format("{} {}", reply.status, reply.text));
      }
    });
    if (!outcome) return outcome;
    if (io == Connection::Io::kLost) {
      return fail(ErrorCode::kUnavailable, "the server closed a connection");
    }
  }
  return {};
}

uint64_t resident_bytes(int pid) {
  const auto usage = usage_of(pid);
  return usage ? usage->resident_bytes : 0;
}

}  // namespace

Result<IdleOutcome> run_idle(const Target& target, Protocol& protocol, size_t count, int server_pid,
                             const std::atomic<bool>& stop) {
  IdleOutcome outcome;
  std::vector<char> buffer(size_t{64} * 1024);
  std::vector<std::unique_ptr<Connection>> connections;
  for (size_t i = 0; i < count + kWarmUp && !stop; ++i) {
    if (i == kWarmUp) outcome.before_bytes = resident_bytes(server_pid);
    auto connection = std::make_unique<Connection>(target, protocol, 0, 1);
    MORULA_TRY(connection->open());
    MORULA_TRY(ask_once(*connection, buffer));
    connections.push_back(std::move(connection));
  }
  if (!stop) ::usleep(kRestMicroseconds);
  outcome.after_bytes = resident_bytes(server_pid);
  outcome.connections = connections.size() - std::min(connections.size(), kWarmUp);
  return outcome;
}

}  // namespace morula::load
