// Fibers: the cell's code is written in direct style and runs on one thread.
//
// Problem: an append waits for a log PUT, a takeover for a dozen requests; callbacks would tear
// that logic apart, threads would make it unrepeatable. A fiber is a function with a stack of its
// own that suspends where it waits. Which ready fiber runs next is first-come in production and the
// seed's choice in simulation.
//
// What it promises: a suspended fiber is never destroyed, it is cancelled (`Cancelled` is thrown at
// its suspension point) and runs to its end. Nothing suspends in a destructor or a noexcept
// function. `catch (...)` rethrows. The exception globals are saved per fiber, so a fiber may
// suspend inside a catch block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "core/base/units.hpp"

namespace morula {

class Clock;
class Random;
class Domain;
class Fiber;

/// Thrown at a suspension point of a fiber that was cancelled, or whose domain was killed; again at
/// each later one, so clean-up that must suspend needs a CancellationShield. Only the runtime
/// catches it for good. Not derived from std::exception, so that nothing swallows it.
///
/// A wait that was woken before the cancellation came returns; the next one throws. So a wake is
/// never lost to a cancellation. Only a killed domain's fibers get Cancelled in that case too:
/// `woken` says so to what must hand the wake on.
struct Cancelled {
  bool woken = false;
};

/// Runs fibers, one at a time, on the thread that calls `run_ready`.
class Scheduler {
 public:
  /// Ready fibers run first-come, first-served.
  Scheduler();
  /// The next ready fiber is drawn from `order`, which must outlive the scheduler.
  explicit Scheduler(Random& order);
  /// Checks that no fiber is left.
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  /// Runs one ready fiber until it suspends or ends. False when none is ready.
  bool run_one();
  /// Runs ready fibers until none is left or `limit` have run; returns how many ran.
  size_t run_ready(size_t limit = SIZE_MAX);
  /// True when `run_one` would run something.
  bool has_ready() const;
  /// Fibers that have begun or will and have not ended.
  size_t live() const;
  /// Tells whose fiber ran last, by the address of its domain, which may be gone. For those who
  /// watch: nothing may depend on it.
  const void* last_ran() const;

 private:
  friend class Domain;
  friend class Fiber;
  friend class WaitList;
  friend class Scope;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// The fibers of one process. In production there is one; in simulation each instance has its own,
/// which a fault can pause (a stopped process) or kill (a crash).
class Domain {
 public:
  Domain(Scheduler& scheduler, std::string name);
  /// Checks that no fiber of it is left.
  ~Domain();
  Domain(const Domain&) = delete;
  Domain& operator=(const Domain&) = delete;

  /// Fibers of a paused domain do not run, whatever they wait for; wakes are kept.
  void pause();
  void resume();
  bool paused() const;

  /// A crash: every fiber gets `Cancelled` at its suspension point and at each later one, also when
  /// the domain is paused or the fiber shielded; what has not begun never does. From now on the
  /// Env's other parts must have no effect for it. Must not be called by a fiber of this domain.
  /// The fibers end during the following `run_ready`.
  void kill();
  bool killed() const;

  size_t live() const;
  const std::string& name() const;
  Scheduler& scheduler() const;

  /// The domain of the running fiber. Must be called by a fiber.
  static Domain& current();

 private:
  friend class Fiber;
  friend class Scope;
  friend class WaitList;
  friend class Scheduler;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Where fibers wait: the one suspension primitive; everything in core/rt/sync.hpp is made of it.
/// First come, first woken. Must be empty when destroyed.
class WaitList {
 public:
  WaitList() = default;
  ~WaitList();
  WaitList(const WaitList&) = delete;
  WaitList& operator=(const WaitList&) = delete;

  /// Suspends until woken. Throws Cancelled.
  void wait();
  /// Suspends until woken (true) or until `deadline` (false), also when that is past: others run
  /// first. Throws Cancelled. `kNever` is allowed.
  bool wait_until(Clock& clock, Time deadline);
  /// Suspends until woken, whatever happens, even when the domain is killed. Only where the wake is
  /// certain to come, and what it guards must not be left before: a stack that others still use.
  void wait_uncancellable();
  /// Makes the longest waiting fiber ready; false when nobody waits. May be called from outside
  /// fibers, on the scheduler's thread.
  bool wake_one();
  void wake_all();
  bool empty() const { return head_ == nullptr; }

 private:
  friend class Fiber;
  Fiber* head_ = nullptr;  // intrusive list through the fibers
  Fiber* tail_ = nullptr;
};

/// Lets others run. Throws Cancelled.
void yield();

/// Tells fibers that live at the same time apart; null outside fibers. For those who watch: nothing
/// may depend on it.
const void* this_fiber();

/// While alive, the running fiber cannot be cancelled: what arrives is delivered at the first
/// suspension point after. For clean-up that must suspend; bounded waits only. A killed domain
/// cancels all the same.
class CancellationShield {
 public:
  CancellationShield();
  ~CancellationShield();
  CancellationShield(const CancellationShield&) = delete;
  CancellationShield& operator=(const CancellationShield&) = delete;

 private:
  Fiber* fiber_;
};

/// Owns child fibers and outlives them. Use `with_scope` where the children live as long as a
/// block; a member Scope must be closed before its owner is destroyed.
class Scope {
 public:
  explicit Scope(Domain& domain);
  /// Checks that no child is left.
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  /// Starts a child, which runs `body()` when the scheduler picks it. `name` is a literal, for
  /// traces and assertions. `body` is moved (an lvalue: copied) onto the child's stack. An
  /// exception other than Cancelled that leaves `body` is a bug and aborts. After `cancel`, the
  /// child is born cancelled: it runs as far as its first suspension point.
  template <class Body>
  void spawn(const char* name, Body&& body);

  /// Each child gets Cancelled at its next suspension point, or at the one where it waits. Doesn't
  /// wait. For good: later children too.
  void cancel();
  /// Suspends until no child is left. Throws Cancelled (children go on).
  void join();
  /// `cancel`, then waits until no child is left, whether or not the caller is cancelled; if it is,
  /// throws Cancelled at the end. Never by a child. Outside fibers only when no child is left.
  void close();
  size_t live() const;
  Domain& domain() const { return domain_; }

 private:
  friend class Fiber;
  /// What the runtime does with a body that lies on a fiber's stack.
  struct BodyActions {
    size_t size;
    size_t alignment;
    void (*construct)(void* place, void* source);
    void (*run)(void* place);
    void (*destroy)(void* place);
  };
  void start(const char* name, const BodyActions& actions, void* source);

  Domain& domain_;
  Fiber* children_ = nullptr;  // intrusive list
  size_t live_ = 0;
  bool cancelled_ = false;
  WaitList empty_;
};

template <class Body>
void Scope::spawn(const char* name, Body&& body) {
  using Stored = std::decay_t<Body>;
  if constexpr (std::is_function_v<std::remove_reference_t<Body>>) {
    spawn(name, Stored(body));
  } else {
    static constexpr BodyActions kActions{
        sizeof(Stored), alignof(Stored),
        [](void* place, void* source) {
          using Source = std::remove_reference_t<Body>;
          new (place) Stored(std::forward<Body>(*static_cast<Source*>(source)));
        },
        [](void* place) { (*static_cast<Stored*>(place))(); },
        [](void* place) { static_cast<Stored*>(place)->~Stored(); }};
    start(name, kActions, const_cast<void*>(static_cast<const void*>(std::addressof(body))));
  }
}

/// Runs `body(scope)` in the calling fiber. Afterwards, also after an exception, the children are
/// cancelled and waited for. (Call `scope.join()` at the end of `body` to let them finish.)
template <class Body>
auto with_scope(Domain& domain, Body&& body) {
  Scope scope(domain);
  std::exception_ptr thrown;
  if constexpr (std::is_void_v<std::invoke_result_t<Body, Scope&>>) {
    try {
      body(scope);
    } catch (...) {  // rethrown below, where the fiber may suspend
      thrown = std::current_exception();
    }
    scope.close();
    if (thrown) std::rethrow_exception(thrown);
  } else {
    std::optional<std::invoke_result_t<Body, Scope&>> result;
    try {
      result.emplace(body(scope));
    } catch (...) {  // rethrown below, where the fiber may suspend
      thrown = std::current_exception();
    }
    scope.close();
    if (thrown) std::rethrow_exception(thrown);
    return std::move(*result);
  }
}

}  // namespace morula
