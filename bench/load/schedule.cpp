#include "bench/load/schedule.hpp"

#include <algorithm>

namespace morula::load {

Schedule Schedule::counted(Operation operation, size_t count, size_t streams) {
  Schedule schedule;
  schedule.only_ = operation;
  schedule.count_ = count;
  schedule.streams_ = streams;
  return schedule;
}

Schedule Schedule::timed(int64_t begin_ns, int64_t end_ns, double rate, double read_share,
                         size_t streams) {
  Schedule schedule;
  schedule.begin_ns_ = begin_ns;
  schedule.end_ns_ = end_ns;
  schedule.interval_ns_ = rate > 0 ? 1e9 / rate : 0;
  schedule.reads_below_ = static_cast<uint64_t>(read_share * 4294967296.0);
  schedule.streams_ = streams;
  return schedule;
}

int64_t Schedule::due(int64_t now_ns) const {
  if (ended(now_ns)) return kNeverNs;
  if (interval_ns_ == 0) return now_ns;
  return begin_ns_ + static_cast<int64_t>(static_cast<double>(taken_) * interval_ns_);
}

Planned Schedule::take(int64_t now_ns) {
  Planned planned;
  planned.since_ns = due(now_ns);
  if (only_) {
    planned.operation = *only_;
    planned.stream = taken_ % streams_;
  } else {
    const uint64_t drawn = draw();
    planned.stream = (drawn >> 32) % streams_;
    planned.operation = (drawn & 0xffffffff) < reads_below_ ? Operation::kRead : Operation::kAppend;
  }
  ++taken_;
  return planned;
}

uint64_t Schedule::behind(int64_t now_ns) const {
  if (interval_ns_ == 0) return 0;
  const double due_by_now =
      static_cast<double>(std::min(now_ns, end_ns_) - begin_ns_) / interval_ns_;
  const double taken = static_cast<double>(taken_);
  return due_by_now > taken ? static_cast<uint64_t>(due_by_now - taken) : 0;
}

uint64_t Schedule::draw() {
  // splitmix64
  random_ += 0x9e3779b97f4a7c15;
  uint64_t z = random_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

}  // namespace morula::load
