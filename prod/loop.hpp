// The one thread that a process of morula thinks on: epoll for what happens outside, the fibers'
// scheduler for what the cell does about it.
//
// In turns: handlers of whatever has happened, then ready fibers, then deferred actions; when
// nothing is ready it waits in the kernel. Time is CLOCK_BOOTTIME, which counts suspended time, for
// `now()` and for timers alike: after a stop (SIGSTOP, a suspended machine) timers that came due
// meanwhile fire at once. Only `post` may be called from other threads.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>

#include "core/rt/clock.hpp"
#include "core/rt/fiber.hpp"

namespace morula {

class Poller;
struct PollerWatched;

class Loop final : public Clock {
 public:
  Loop();
  /// No fiber may be left.
  ~Loop() override;
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  Domain& domain();

  Time now() const override;
  /// When it last looked for what happens outside: no clock is read. For deadlines that a turn of
  /// the loop more or less does not matter to.
  Time looked_at() const;
  WallTime wall() const override;
  TimerId arm(Time at, TimerAction action, void* argument) override;
  void disarm(TimerId timer) override;

  /// Runs `action` on the loop's thread. From any thread.
  void post(std::function<void()> action);
  /// Runs `action` once the fibers that are ready now have run.
  void defer(std::function<void()> action);
  /// Calls `action(signal)` on the loop's thread whenever one of `signals` arrives.
  void on_signals(std::initializer_list<int> signals, std::function<void(int)> action);

  /// Until `stop`.
  void run();
  void stop();
  /// Runs `body` in a fiber, and the loop until it has ended: what `main` and tests are made of.
  void run_fiber(const char* name, std::function<void()> body);

 private:
  friend class FdWatch;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Called on the loop's thread, outside fibers. Either may destroy the watch.
class FdEvents {
 public:
  virtual ~FdEvents() = default;
  virtual void on_readable() = 0;
  virtual void on_writable() = 0;
};

/// Tells when a file descriptor can be read or written, once for each time that it is asked. Errors
/// and hang-ups count as both. The descriptor stays the caller's, who closes it after the watch.
class FdWatch {
 public:
  FdWatch(Loop& loop, int fd, FdEvents& events);
  ~FdWatch();
  FdWatch(const FdWatch&) = delete;
  FdWatch& operator=(const FdWatch&) = delete;

  void await_readable();
  void await_writable();

 private:
  Poller& poller_;
  PollerWatched* watched_;
};

}  // namespace morula
