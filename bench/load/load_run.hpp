// Drives the connections: one thread, one epoll, no allocation per request.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bench/load/connection.hpp"
#include "bench/load/latency_histogram.hpp"
#include "bench/load/process_usage.hpp"
#include "bench/load/schedule.hpp"
#include "core/base/result.hpp"

namespace morula::load {

struct RunConfig {
  size_t depth = 1;  // requests under way on one connection
  double read_share = 0;
  double rate = 0;  // requests a second; 0: closed loop
  int64_t warm_up_ns = 1'000'000'000;
  int64_t duration_ns = 5'000'000'000;
  int64_t timeout_ns = 10'000'000'000;  // for the last answers
  int server_pid = 0;                   // 0: unknown
};

/// What happened in the measured time.
struct Outcome {
  double seconds = 0;
  LatencyHistogram appends;
  LatencyHistogram reads;
  std::map<int, uint64_t> statuses;  // 0: could not be understood
  std::string first_failure;         // what the first answer that was no success said
  uint64_t lost = 0;                 // requests whose connection broke before the answer
  uint64_t unanswered = 0;           // when the run ended and `timeout_ns` had passed
  uint64_t behind = 0;               // open loop: due, but never sent
  uint64_t bytes_sent = 0;
  uint64_t bytes_received = 0;
  ProcessUsage own;     // used in that time
  ProcessUsage server;  // in that time; resident_bytes: at its end
  bool interrupted = false;

  uint64_t answered() const { return appends.count() + reads.count(); }
};

class LoadRun {
 public:
  /// `stop` ends a run early when it becomes true.
  LoadRun(const Target& target, Protocol& protocol, const Workload& workload,
          const RunConfig& config, const std::atomic<bool>& stop);

  /// kUnavailable.
  Result<> connect();
  /// Carries out `count` requests; kInvalid with what the server said unless all succeed.
  Result<> prepare(Operation operation, size_t count);
  /// kUnavailable when the server is gone for 5 s.
  Result<Outcome> measure();

 private:
  struct Snapshot {
    int64_t at_ns = 0;
    uint64_t bytes_sent = 0;
    uint64_t bytes_received = 0;
    ProcessUsage own;
    ProcessUsage server;
  };

  Result<> drive(Schedule& schedule);
  void handle(Connection& connection, uint32_t events, Schedule& schedule);
  void pump(Schedule& schedule, int64_t now);
  void flush(Connection& connection);
  void answered(const InFlight& request, const Reply& reply, int64_t now);
  void lose(Connection& connection);
  Result<> reopen(int64_t now);
  void watch(Connection& connection, bool writable, bool added);
  void look_at_clock(int64_t now);
  Snapshot snapshot(int64_t now) const;
  void finish_window();

  Workload workload_;
  RunConfig config_;
  const std::atomic<bool>& stop_;
  UniqueFd epoll_;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::vector<char> buffer_;
  // Connections with room, each as often as it has, in a ring: whoever has rested longest is next.
  std::vector<Connection*> rested_;
  size_t rested_first_ = 0;
  size_t rested_count_ = 0;
  std::vector<Connection*> broken_;
  int64_t broken_since_ = 0;
  int64_t retry_at_ = 0;
  uint64_t under_way_ = 0;

  int64_t window_begin_ = 0;
  int64_t window_end_ = 0;
  enum class Window : uint8_t { kBefore, kOpen, kClosed } window_ = Window::kBefore;
  Snapshot at_begin_;
  Snapshot at_end_;
  Outcome outcome_;
};

int64_t monotonic_ns();

}  // namespace morula::load
