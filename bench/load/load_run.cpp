#include "bench/load/load_run.hpp"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>

namespace morula::load {
namespace {

constexpr size_t kReadBytes = size_t{256} * 1024;
constexpr int kEventsPerTurn = 64;
constexpr int64_t kMillisecond = 1'000'000;
constexpr int64_t kLongestWait = 50 * kMillisecond;
constexpr int64_t kReopenPause = 100 * kMillisecond;
constexpr int64_t kGoneFor = 5'000 * kMillisecond;

ProcessUsage operator-(const ProcessUsage& end, const ProcessUsage& begin) {
  return {end.user_us - begin.user_us, end.system_us - begin.system_us, end.resident_bytes};
}

bool succeeded(int status) {
  return status >= 200 && status < 300;
}

}  // namespace

int64_t monotonic_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

LoadRun::LoadRun(const Target& target, Protocol& protocol, const Workload& workload,
                 const RunConfig& config, const std::atomic<bool>& stop)
    : workload_(workload),
      config_(config),
      stop_(stop),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      buffer_(kReadBytes),
      rested_(workload.connections * config.depth) {
  for (size_t i = 0; i < workload.connections; ++i) {
    connections_.push_back(std::make_unique<Connection>(target, protocol, i, config.depth));
  }
}

void LoadRun::watch(Connection& connection, bool writable, bool added) {
  epoll_event event{};
  // Once for each arrival: `handle` reads until nothing is left.
  event.events = EPOLLET | EPOLLRDHUP | (writable ? EPOLLIN | EPOLLOUT : EPOLLIN);
  event.data.ptr = &connection;
  ::epoll_ctl(epoll_.get(), added ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, connection.fd(), &event);
}

Result<> LoadRun::connect() {
  for (const auto& connection : connections_) {
    if (stop_) return fail(ErrorCode::kUnavailable, "interrupted");
    MORULA_TRY(connection->open());
    watch(*connection, false, true);
  }
  return {};
}

Result<> LoadRun::prepare(Operation operation, size_t count) {
  if (count == 0) return {};
  outcome_ = {};
  window_ = Window::kOpen;
  Schedule schedule = Schedule::counted(operation, count, workload_.streams);
  MORULA_TRY(drive(schedule));
  if (stop_) return fail(ErrorCode::kUnavailable, "interrupted");
  uint64_t good = 0;
  for (const auto& [status, times] : outcome_.statuses) good += succeeded(status) ? times : 0;
  if (good == count) return {};
  return fail(ErrorCode::kInvalid,
              fmt::format("{} of {} requests to prepare the run failed, the first with: {}",
                          count - good, count, outcome_.first_failure));
}

Result<Outcome> LoadRun::measure() {
  outcome_ = {};
  window_ = Window::kBefore;
  const int64_t begin = monotonic_ns();
  window_begin_ = begin + config_.warm_up_ns;
  window_end_ = window_begin_ + config_.duration_ns;
  Schedule schedule =
      Schedule::timed(begin, window_end_, config_.rate, config_.read_share, workload_.streams);
  MORULA_TRY(drive(schedule));
  const int64_t now = monotonic_ns();
  outcome_.interrupted = stop_;
  if (window_ == Window::kBefore) at_begin_ = snapshot(now);
  if (window_ != Window::kClosed) at_end_ = snapshot(now);
  outcome_.behind = schedule.behind(now);
  finish_window();
  return outcome_;
}

LoadRun::Snapshot LoadRun::snapshot(int64_t now) const {
  Snapshot taken;
  taken.at_ns = now;
  for (const auto& connection : connections_) {
    taken.bytes_sent += connection->bytes_sent();
    taken.bytes_received += connection->bytes_received();
  }
  taken.own = usage_of(::getpid()).value_or(ProcessUsage{});
  if (config_.server_pid != 0) {
    taken.server = usage_of(config_.server_pid).value_or(ProcessUsage{});
  }
  return taken;
}

void LoadRun::look_at_clock(int64_t now) {
  if (window_ == Window::kBefore && window_begin_ != 0 && now >= window_begin_) {
    window_ = Window::kOpen;
    at_begin_ = snapshot(now);
  }
  if (window_ == Window::kOpen && window_end_ != 0 && now >= window_end_) {
    window_ = Window::kClosed;
    at_end_ = snapshot(now);
  }
}

void LoadRun::finish_window() {
  outcome_.seconds = static_cast<double>(at_end_.at_ns - at_begin_.at_ns) / 1e9;
  outcome_.bytes_sent = at_end_.bytes_sent - at_begin_.bytes_sent;
  outcome_.bytes_received = at_end_.bytes_received - at_begin_.bytes_received;
  outcome_.own = at_end_.own - at_begin_.own;
  outcome_.server = at_end_.server - at_begin_.server;
}

Result<> LoadRun::drive(Schedule& schedule) {
  rested_first_ = rested_count_ = 0;
  for (size_t i = 0; i < config_.depth; ++i) {
    for (const auto& connection : connections_) {
      if (connection->is_open()) rested_[rested_count_++] = connection.get();
    }
  }
  int64_t now = monotonic_ns();
  int64_t ended_at = 0;
  pump(schedule, now);
  while (!stop_) {
    now = monotonic_ns();
    look_at_clock(now);
    if (schedule.ended(now)) {
      if (ended_at == 0) ended_at = now;
      if (under_way_ == 0 || now - ended_at > config_.timeout_ns) break;
    }
    if (!broken_.empty()) MORULA_TRY(reopen(now));
    pump(schedule, now);
    epoll_event events[kEventsPerTurn];
    const int64_t due = rested_count_ > 0 ? schedule.due(now) : kNeverNs;
    const int64_t pause =
        std::clamp<int64_t>(due == kNeverNs ? kNeverNs : due - now, 0, kLongestWait);
    const timespec timeout{0, pause};
    const int count = ::epoll_pwait2(epoll_.get(), events, kEventsPerTurn, &timeout, nullptr);
    for (int i = 0; i < count; ++i) {
      handle(*static_cast<Connection*>(events[i].data.ptr), events[i].events, schedule);
    }
  }
  outcome_.unanswered = under_way_;
  return {};
}

void LoadRun::handle(Connection& connection, uint32_t events, Schedule& schedule) {
  if (!connection.is_open()) return;
  if ((events & EPOLLOUT) != 0) {
    watch(connection, false, false);
    flush(connection);
    if (!connection.is_open()) return;
  }
  const bool to_end = (events & (EPOLLRDHUP | EPOLLERR | EPOLLHUP)) != 0;
  if ((events & EPOLLIN) == 0 && !to_end) return;
  int64_t now = 0;
  const auto on_reply = [&](const InFlight& request, const Reply& reply) {
    if (now == 0) now = monotonic_ns();
    answered(request, reply, now);
    rested_[(rested_first_ + rested_count_++) % rested_.size()] = &connection;
  };
  auto io = Connection::Io::kMore;
  while (io == Connection::Io::kMore || (to_end && io == Connection::Io::kDone)) {
    io = connection.receive(buffer_, on_reply);
  }
  if (io == Connection::Io::kLost) lose(connection);
  if (now != 0) pump(schedule, now);
}

void LoadRun::answered(const InFlight& request, const Reply& reply, int64_t now) {
  --under_way_;
  if (window_ != Window::kOpen) return;
  ++outcome_.statuses[reply.status];
  auto& latencies = request.operation == Operation::kRead ? outcome_.reads : outcome_.appends;
  latencies.add(now - request.since_ns);
  if (!succeeded(reply.status) && outcome_.first_failure.empty()) {
    outcome_.first_failure = fmt::format("{} {}", reply.status, reply.text);
  }
}

void LoadRun::pump(Schedule& schedule, int64_t now) {
  while (rested_count_ > 0 && schedule.due(now) <= now) {
    Connection& connection = *rested_[rested_first_];
    rested_first_ = (rested_first_ + 1) % rested_.size();
    --rested_count_;
    if (!connection.is_open()) continue;  // lost meanwhile
    const Planned planned = schedule.take(now);
    connection.begin(planned.operation, planned.stream, planned.since_ns);
    ++under_way_;
    // Several for one connection go out together.
    const bool same_next = rested_count_ > 0 && rested_[rested_first_] == &connection &&
                           connection.has_room() && schedule.due(now) <= now;
    if (!same_next) flush(connection);
  }
}

void LoadRun::flush(Connection& connection) {
  switch (connection.send()) {
    case Connection::Io::kDone:
    case Connection::Io::kMore:
      return;
    case Connection::Io::kBlocked:
      return watch(connection, true, false);
    case Connection::Io::kLost:
      return lose(connection);
  }
}

void LoadRun::lose(Connection& connection) {
  if (window_ == Window::kOpen) outcome_.lost += connection.under_way();
  if (outcome_.first_failure.empty() && connection.under_way() > 0) {
    outcome_.first_failure = "the server closed a connection with a request under way";
  }
  under_way_ -= connection.under_way();
  connection.close();
  if (broken_.empty()) broken_since_ = monotonic_ns();
  broken_.push_back(&connection);
}

Result<> LoadRun::reopen(int64_t now) {
  if (now < retry_at_) return {};
  while (!broken_.empty()) {
    Connection& connection = *broken_.back();
    if (auto opened = connection.open(); !opened) {
      retry_at_ = now + kReopenPause;
      if (now - broken_since_ > kGoneFor) return opened;
      return {};
    }
    broken_.pop_back();
    watch(connection, false, true);
    // What it has in the ring of those with room counts again.
    size_t kept = 0;
    for (size_t i = 0; i < rested_count_; ++i) {
      Connection* rested = rested_[(rested_first_ + i) % rested_.size()];
      if (rested != &connection) rested_[(rested_first_ + kept++) % rested_.size()] = rested;
    }
    rested_count_ = kept;
    for (size_t i = 0; i < config_.depth; ++i) {
      rested_[(rested_first_ + rested_count_++) % rested_.size()] = &connection;
    }
  }
  return {};
}

}  // namespace morula::load
