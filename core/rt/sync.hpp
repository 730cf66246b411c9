// What fibers wait for each other with. All of one thread: none of it is atomic. (A condition
// variable is a WaitList and a loop around its `wait`; a group is a Scope.)
//
// Every wait is a suspension point and throws Cancelled. A cancelled waiter has taken nothing and
// keeps no wake from others: a lock, a unit or a value that was on its way to it when its domain
// was killed goes to the next in line. None may be destroyed while a fiber waits in it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <utility>

#include "core/base/check.hpp"
#include "core/rt/fiber.hpp"

namespace morula {

/// Mutual exclusion between fibers, strictly in order of arrival. Usable with std::unique_lock's
/// interface through `lock`/`unlock`; unlocking never suspends. Not recursive.
class Mutex {
 public:
  void lock() {
    if (try_lock()) return;
    try {
      waiters_.wait();  // `unlock` leaves the mutex locked, for us
    } catch (const Cancelled& cancelled) {
      if (cancelled.woken) unlock();
      throw;
    }
  }
  bool try_lock() { return locked_ ? false : (locked_ = true); }
  void unlock() {
    MORULA_CHECK(locked_);
    if (!waiters_.wake_one()) locked_ = false;
  }
  bool locked() const { return locked_; }

 private:
  bool locked_ = false;
  WaitList waiters_;
};

/// Holds a mutex until the end of the block, or until `unlock`.
class MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) : mutex_(&mutex) { mutex.lock(); }
  ~MutexLock() { unlock(); }
  MutexLock(MutexLock&& other) noexcept : mutex_(std::exchange(other.mutex_, nullptr)) {}
  MutexLock& operator=(MutexLock&& other) noexcept {
    if (this != &other) {
      unlock();
      mutex_ = std::exchange(other.mutex_, nullptr);
    }
    return *this;
  }
  /// Does nothing when it was called before. Never suspends.
  void unlock() {
    if (mutex_ != nullptr) std::exchange(mutex_, nullptr)->unlock();
  }

 private:
  Mutex* mutex_;
};

/// A counted resource, given out strictly in order of arrival.
class Semaphore {
 public:
  explicit Semaphore(size_t count) : count_(count) {}
  void acquire() {
    if (try_acquire()) return;
    try {
      waiters_.wait();  // `release` hands its unit over, uncounted
    } catch (const Cancelled& cancelled) {
      if (cancelled.woken) release();
      throw;
    }
  }
  bool try_acquire() {
    if (count_ == 0) return false;
    --count_;
    return true;
  }
  void release() {
    if (!waiters_.wake_one()) ++count_;
  }
  size_t available() const { return count_; }

 private:
  size_t count_;
  WaitList waiters_;
};

/// A resource of which each takes as much as it needs, given out strictly in order of arrival: a
/// large want is not passed by small ones.
class WeightedSemaphore {
 public:
  explicit WeightedSemaphore(uint64_t units) : units_(units), free_(units) {}
  /// Who wants more than there is gets all of it. The units that were taken.
  uint64_t acquire(uint64_t units) {
    units = std::min(units, units_);
    MutexLock turn(turns_);
    while (free_ < units) freed_.wait();
    free_ -= units;
    return units;
  }
  void release(uint64_t units) {
    free_ += units;
    MORULA_CHECK(free_ <= units_, "no more is released than was acquired");
    freed_.wake_all();
  }
  uint64_t available() const { return free_; }

 private:
  const uint64_t units_;
  uint64_t free_;
  Mutex turns_;  // held by the one who is next
  WaitList freed_;
};

/// A gate that opens once and stays open.
class Event {
 public:
  void set() {
    set_ = true;
    waiters_.wake_all();
  }
  bool is_set() const { return set_; }
  void wait() {
    while (!set_) waiters_.wait();
  }
  /// True when set, false when `deadline` came first.
  bool wait_until(Clock& clock, Time deadline) {
    while (!set_) {
      if (!waiters_.wait_until(clock, deadline)) return set_;
    }
    return true;
  }

 private:
  bool set_ = false;
  WaitList waiters_;
};

/// A bounded queue between fibers: values come out in the order in which they went in. After
/// `close`, receivers drain it and then get nullopt.
template <class T>
class Channel {
 public:
  explicit Channel(size_t capacity) : capacity_(capacity) { MORULA_CHECK(capacity > 0); }
  /// Suspends while full. False (and `value` is dropped) once closed.
  bool send(T value) {
    while (!closed_ && queue_.size() >= capacity_) {
      try {
        senders_.wait();
      } catch (const Cancelled& cancelled) {
        if (cancelled.woken && queue_.size() < capacity_) senders_.wake_one();
        throw;
      }
    }
    if (closed_) return false;
    queue_.push_back(std::move(value));
    receivers_.wake_one();
    return true;
  }
  /// Suspends while empty and open.
  std::optional<T> receive() {
    while (queue_.empty() && !closed_) {
      try {
        receivers_.wait();
      } catch (const Cancelled& cancelled) {
        if (cancelled.woken && !queue_.empty()) receivers_.wake_one();
        throw;
      }
    }
    if (queue_.empty()) return std::nullopt;
    std::optional<T> value(std::move(queue_.front()));
    queue_.pop_front();
    senders_.wake_one();
    return value;
  }
  void close() {
    closed_ = true;
    senders_.wake_all();
    receivers_.wake_all();
  }
  size_t size() const { return queue_.size(); }

 private:
  size_t capacity_;
  bool closed_ = false;
  std::deque<T> queue_;
  WaitList senders_;
  WaitList receivers_;
};

/// One answer that somebody outside fibers will give (a store's callback, a timer), and the fiber
/// that waits for it. Both hold the shared state: when the fiber is cancelled, the late answer goes
/// nowhere. `complete` is called on the scheduler's thread.
template <class T>
class Completion {
 public:
  Completion() : state_(std::make_shared<State>()) {}

  /// The first call counts, later ones are ignored.
  void complete(T value) const {
    if (state_->value) return;
    state_->value.emplace(std::move(value));
    state_->waiter.wake_all();
  }
  bool completed() const { return state_->value.has_value(); }
  /// Suspends until completed. One waiter.
  T wait() const {
    while (!state_->value) state_->waiter.wait();
    return std::move(*state_->value);
  }
  /// The same, also when the fiber is cancelled or its domain killed: for an answer that is certain
  /// to come, from somebody who uses the waiter's stack until then.
  T wait_uncancellable() const {
    while (!state_->value) state_->waiter.wait_uncancellable();
    return std::move(*state_->value);
  }
  /// nullopt when `deadline` came first.
  std::optional<T> wait_until(Clock& clock, Time deadline) const {
    while (!state_->value) {
      if (!state_->waiter.wait_until(clock, deadline) && !state_->value) return std::nullopt;
    }
    return std::move(*state_->value);
  }

 private:
  struct State {
    std::optional<T> value;
    WaitList waiter;
  };
  std::shared_ptr<State> state_;
};

}  // namespace morula
