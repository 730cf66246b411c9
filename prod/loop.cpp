#include "prod/loop.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/check.hpp"
#include "prod/inbox.hpp"
#include "prod/poller.hpp"
#include "prod/timers.hpp"

namespace morula {
namespace {

// So many fibers run before the loop looks at sockets and timers again.
constexpr size_t kFibersPerTurn = 256;

int64_t read_clock(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return static_cast<int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

/// Signals as bytes in a pipe. The process has one of it at a time.
class SignalPipe {
 public:
  explicit SignalPipe(std::initializer_list<int> signals) {
    MORULA_CHECK(write_end_ < 0, "signals have one receiver");
    int ends[2];
    MORULA_CHECK(::pipe2(ends, O_NONBLOCK | O_CLOEXEC) == 0, "the kernel gives no pipe");
    read_end_.reset(ends[0]);
    write_end_ = ends[1];
    struct sigaction action {};
    action.sa_handler = &SignalPipe::arrived;
    action.sa_flags = SA_RESTART;
    for (const int signal : signals) {
      ::sigaction(signal, &action, nullptr);
      signals_.push_back(signal);
    }
  }
  SignalPipe(const SignalPipe&) = delete;
  SignalPipe& operator=(const SignalPipe&) = delete;
  ~SignalPipe() {
    for (const int signal : signals_) ::signal(signal, SIG_DFL);
    ::close(std::exchange(write_end_, -1));
  }

  int fd() const { return read_end_.get(); }
  /// The next one that has arrived; nullopt when there is none.
  std::optional<int> take() {
    unsigned char number = 0;
    if (::read(fd(), &number, 1) != 1) return std::nullopt;
    return number;
  }

 private:
  static void arrived(int signal) {
    const int saved = errno;
    const auto number = static_cast<unsigned char>(signal);
    (void)!::write(write_end_, &number, 1);
    errno = saved;
  }

  static volatile int write_end_;
  UniqueFd read_end_;
  std::vector<int> signals_;
};

volatile int SignalPipe::write_end_ = -1;

/// Calls a function each time that a descriptor is readable.
class Bell final : public FdEvents {
 public:
  Bell(Loop& loop, int fd, std::function<void()> rings)
      : rings_(std::move(rings)), watch_(loop, fd, *this) {
    watch_.await_readable();
  }
  void on_readable() override {
    rings_();
    watch_.await_readable();
  }
  void on_writable() override {}

 private:
  std::function<void()> rings_;
  FdWatch watch_;
};

}  // namespace

struct Loop::Impl {
  explicit Impl(const Clock& clock) : poller(clock), domain(scheduler, "process") {}

  /// What needs the watches of the whole.
  void start(Loop& loop) {
    alarm.emplace(loop, timers.fd(), [this] { timers.rang(); });
    work.emplace(loop, inbox.fd(), [this] { inbox.rang(); });
  }

  void run_deferred() {
    // Those that they defer in turn wait for the next turn.
    running.swap(deferred);
    for (const auto& action : running) action();
    running.clear();
  }

  void wait_for_events(const Loop& loop) {
    bool may_wait = !scheduler.has_ready() && deferred.empty();
    if (may_wait) {
      timers.set_alarm(loop.now());
      may_wait = inbox.may_wait();
    }
    poller.poll(may_wait);
    inbox.run();
    timers.fire_due(loop.now());
  }

  void take_signals() {
    while (const auto signal = signals->take()) on_signal(*signal);
  }

  Poller poller;
  Timers timers;
  Inbox inbox;
  Scheduler scheduler;
  Domain domain;
  std::vector<std::function<void()>> deferred;
  std::vector<std::function<void()>> running;
  std::optional<SignalPipe> signals;
  std::function<void(int)> on_signal;
  std::optional<Bell> alarm;
  std::optional<Bell> work;
  std::optional<Bell> signal_bell;
  bool stopped = false;
};

Loop::Loop() : impl_(std::make_unique<Impl>(*this)) {
  impl_->start(*this);
}
Loop::~Loop() = default;

Domain& Loop::domain() {
  return impl_->domain;
}

Time Loop::now() const {
  return Time(Duration(read_clock(CLOCK_BOOTTIME)));
}

Time Loop::looked_at() const {
  return impl_->poller.looked_at();
}

WallTime Loop::wall() const {
  return WallTime{read_clock(CLOCK_REALTIME) / 1'000'000};
}

Clock::TimerId Loop::arm(Time at, TimerAction action, void* argument) {
  return impl_->timers.arm(at, action, argument);
}

void Loop::disarm(TimerId timer) {
  impl_->timers.disarm(timer);
}

void Loop::post(std::function<void()> action) {
  impl_->inbox.post(std::move(action));
}

void Loop::defer(std::function<void()> action) {
  impl_->deferred.push_back(std::move(action));
}

void Loop::on_signals(std::initializer_list<int> signals, std::function<void(int)> action) {
  impl_->signals.emplace(signals);
  impl_->on_signal = std::move(action);
  impl_->signal_bell.emplace(*this, impl_->signals->fd(), [this] { impl_->take_signals(); });
}

void Loop::run() {
  impl_->stopped = false;
  while (!impl_->stopped) {
    impl_->scheduler.run_ready(kFibersPerTurn);
    impl_->run_deferred();
    if (!impl_->stopped) impl_->wait_for_events(*this);
  }
}

void Loop::stop() {
  impl_->stopped = true;
}

void Loop::run_fiber(const char* name, std::function<void()> body) {
  Scope scope(impl_->domain);
  bool ended = false;
  scope.spawn(name, [&] {
    struct AtEnd {
      Loop& loop;
      bool& ended;
      ~AtEnd() {
        ended = true;
        loop.stop();
      }
    } const at_end{*this, ended};
    body();
  });
  while (!ended) run();
  // The fiber leaves its scope a step after its body has ended.
  while (scope.live() > 0) impl_->scheduler.run_one();
}

FdWatch::FdWatch(Loop& loop, int fd, FdEvents& events)
    : poller_(loop.impl_->poller), watched_(poller_.add(fd, events)) {}

FdWatch::~FdWatch() {
  poller_.remove(watched_);
}

void FdWatch::await_readable() {
  poller_.await(*watched_, EPOLLIN);
}

void FdWatch::await_writable() {
  poller_.await(*watched_, EPOLLOUT);
}

}  // namespace morula
