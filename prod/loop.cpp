#include "prod/loop.hpp"

#include <sys/timerfd.h>
#include <unistd.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <ctime>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/base/check.hpp"

namespace morula {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

// So many fibers run before the loop looks at sockets and timers again.
constexpr size_t kFibersPerTurn = 256;

int64_t read_clock(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return static_cast<int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

/// Timers by due time, and one timerfd of the kernel for the earliest.
class Timers {
 public:
  explicit Timers(asio::io_context& io)
      : descriptor_(io, ::timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC)) {
    MORULA_CHECK(descriptor_.native_handle() >= 0, "the kernel gives no timer");
    wait();
  }

  Clock::TimerId arm(Time at, Clock::TimerAction action, void* argument) {
    const Clock::TimerId id = ++last_id_;
    due_.emplace(Key{at, id}, Action{action, argument});
    times_.emplace(id, at);
    return id;
  }

  void disarm(Clock::TimerId id) {
    const auto found = times_.find(id);
    if (found == times_.end()) return;
    due_.erase(Key{found->second, id});
    times_.erase(found);
  }

  void fire_due(Time now) {
    while (!due_.empty() && due_.begin()->first.first <= now) {
      const auto first = due_.begin();
      const Action action = first->second;
      times_.erase(first->first.second);
      due_.erase(first);
      action.call(action.argument);
    }
  }

  /// Before the loop waits: tells the kernel when to wake it.
  void set_alarm() {
    const Time earliest = due_.empty() ? kNever : due_.begin()->first.first;
    if (earliest == alarm_) return;
    alarm_ = earliest;
    itimerspec alarm{};
    if (earliest != kNever) {
      const int64_t at = std::max<int64_t>(earliest.time_since_epoch().count(), 1);
      alarm.it_value = {static_cast<time_t>(at / 1'000'000'000),
                        static_cast<long>(at % 1'000'000'000)};
    }
    MORULA_CHECK(
        ::timerfd_settime(descriptor_.native_handle(), TFD_TIMER_ABSTIME, &alarm, nullptr) == 0);
  }

 private:
  using Key = std::pair<Time, Clock::TimerId>;
  struct Action {
    Clock::TimerAction call;
    void* argument;
  };

  void wait() {
    descriptor_.async_wait(asio::posix::stream_descriptor::wait_read, [this](error_code error) {
      if (error) return;
      uint64_t expirations = 0;
      (void)!::read(descriptor_.native_handle(), &expirations, sizeof(expirations));
      alarm_ = Time::min();  // it has rung; the next one is set anew
      wait();
    });
  }

  asio::posix::stream_descriptor descriptor_;
  std::map<Key, Action> due_;
  std::unordered_map<Clock::TimerId, Time> times_;
  Clock::TimerId last_id_ = 0;
  Time alarm_ = kNever;
};

}  // namespace

struct Loop::Impl {
  Impl() : work(asio::make_work_guard(io)), timers(io), domain(scheduler, "process") {}

  void run_deferred() {
    // Those that they defer in turn wait for the next turn.
    std::vector<std::function<void()>> actions;
    actions.swap(deferred);
    for (const auto& action : actions) action();
  }

  void wait_for_events(const Loop& loop) {
    if (scheduler.has_ready() || !deferred.empty()) {
      io.poll();
    } else {
      timers.set_alarm();
      io.run_one();
      io.poll();
    }
    timers.fire_due(loop.now());
  }

  asio::io_context io{1};
  asio::executor_work_guard<asio::io_context::executor_type> work;
  Timers timers;
  Scheduler scheduler;
  Domain domain;
  std::vector<std::function<void()>> deferred;
  std::optional<asio::signal_set> signals;
  std::function<void(int)> on_signal;
  bool stopped = false;

  void wait_for_signal() {
    signals->async_wait([this](error_code error, int signal) {
      if (error) return;
      on_signal(signal);
      wait_for_signal();
    });
  }
};

Loop::Loop() : impl_(std::make_unique<Impl>()) {}
Loop::~Loop() = default;

Domain& Loop::domain() {
  return impl_->domain;
}

Time Loop::now() const {
  return Time(Duration(read_clock(CLOCK_BOOTTIME)));
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
  asio::post(impl_->io, std::move(action));
}

void Loop::defer(std::function<void()> action) {
  impl_->deferred.push_back(std::move(action));
}

void Loop::on_signals(std::initializer_list<int> signals, std::function<void(int)> action) {
  MORULA_CHECK(!impl_->signals, "signals have one receiver");
  impl_->signals.emplace(impl_->io);
  for (const int signal : signals) impl_->signals->add(signal);
  impl_->on_signal = std::move(action);
  impl_->wait_for_signal();
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

struct FdWatch::State : std::enable_shared_from_this<State> {
  State(asio::io_context& io, int fd, FdEvents& e) : descriptor(io, fd), events(&e) {}

  void wait(asio::posix::stream_descriptor::wait_type what, bool& waiting,
            void (FdEvents::*happened)()) {
    if (waiting) return;
    waiting = true;
    descriptor.async_wait(what, [state = shared_from_this(), &waiting, happened](error_code) {
      waiting = false;
      if (state->events != nullptr) (state->events->*happened)();
    });
  }

  asio::posix::stream_descriptor descriptor;
  FdEvents* events;  // null once the watch is gone
  bool waiting_readable = false;
  bool waiting_writable = false;
};

FdWatch::FdWatch(Loop& loop, int fd, FdEvents& events)
    : state_(std::make_shared<State>(loop.impl_->io, fd, events)) {}

FdWatch::~FdWatch() {
  state_->events = nullptr;
  state_->descriptor.release();
}

void FdWatch::await_readable() {
  state_->wait(asio::posix::stream_descriptor::wait_read, state_->waiting_readable,
               &FdEvents::on_readable);
}

void FdWatch::await_writable() {
  state_->wait(asio::posix::stream_descriptor::wait_write, state_->waiting_writable,
               &FdEvents::on_writable);
}

}  // namespace morula
