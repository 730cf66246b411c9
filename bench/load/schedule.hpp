// Which request is begun next, and when.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "bench/load/protocol.hpp"

namespace morula::load {

inline constexpr int64_t kNeverNs = std::numeric_limits<int64_t>::max();

struct Planned {
  Operation operation = Operation::kAppend;
  size_t stream = 0;
  int64_t since_ns = 0;  // what its latency is counted from
};

class Schedule {
 public:
  /// `count` requests as fast as they are answered, streams in turn.
  static Schedule counted(Operation operation, size_t count, size_t streams);
  /// Requests until `end_ns`, streams and reads drawn. `rate` 0: closed loop, the next request
  /// begins when one is answered. Otherwise one is due every 1/rate s from `begin_ns` on, whether
  /// the server keeps up or not, and its latency counts from when it was due.
  static Schedule timed(int64_t begin_ns, int64_t end_ns, double rate, double read_share,
                        size_t streams);

  bool ended(int64_t now_ns) const { return now_ns >= end_ns_ || taken_ == count_; }
  /// When the next request is due; kNeverNs when there is none.
  int64_t due(int64_t now_ns) const;
  /// One that is due.
  Planned take(int64_t now_ns);
  /// Requests that were due by now and were not taken.
  uint64_t behind(int64_t now_ns) const;

 private:
  uint64_t draw();

  std::optional<Operation> only_;
  uint64_t count_ = std::numeric_limits<uint64_t>::max();
  uint64_t taken_ = 0;
  int64_t begin_ns_ = 0;
  int64_t end_ns_ = kNeverNs;
  double interval_ns_ = 0;
  uint64_t reads_below_ = 0;  // of 2^32
  size_t streams_ = 1;
  uint64_t random_ = 0x9e3779b97f4a7c15;
};

}  // namespace morula::load
