// The inside of core/rt/fiber.hpp: what a fiber, a scheduler and a domain consist of. Only the
// runtime's own files include it.
#pragma once

#include <boost/context/detail/fcontext.hpp>
#include <vector>

#include "core/rt/clock.hpp"
#include "core/rt/fiber.hpp"

namespace morula {

/// What libstdc++ keeps per thread about exceptions in flight: the caught ones, innermost first,
/// and how many are on their way to a handler. (The C++ ABI fixes this layout, `__cxa_eh_globals`.)
struct ExceptionGlobals {
  void* caught = nullptr;
  unsigned int uncaught = 0;
};

/// One fiber: its control block, which lies at the upper end of its stack, above the body.
///
/// kReady -> kRunning -> kReady (yield) | kWaiting | kEnded; kWaiting -> kReady (end_wait).
/// A ready fiber is in the scheduler's queue, or in its domain's `held` while that is paused.
class Fiber {
 public:
  enum class State : uint8_t { kReady, kRunning, kWaiting, kEnded };
  enum class Wake : uint8_t { kWoken, kTimedOut, kCancelled };
  enum class Interruptible : bool { kNo, kYes };

  /// The fiber that runs on this thread now; null outside fibers.
  static Fiber* running();
  /// The same; checks that there is one.
  static Fiber& current();

  /// Takes a stack, moves the body onto it and makes the new fiber ready.
  static void start(Scope& scope, const char* name, const Scope::BodyActions& actions,
                    void* source);

  /// Called by the scheduler: runs this fiber until it suspends or ends. An ended one is destroyed.
  void resume();

  /// Called by the running fiber: lines up in `list` and suspends until `end_wait`. Throws
  /// Cancelled when it may be interrupted and was, and when the domain was killed meanwhile.
  Wake wait(WaitList& list, Clock* clock, Time deadline, Interruptible interruptible);
  void yield();

  /// Ends the wait of a waiting fiber: takes it out of its list and makes it ready.
  void end_wait(Wake why);
  /// Asks for Cancelled at the next suspension point; a wait that allows it is ended.
  void cancel();
  /// Ends the wait if there is one that a cancellation may end now.
  void interrupt();
  /// True when a suspension point must throw Cancelled.
  bool must_stop() const;
  void throw_if_stopped() const;

  State state() const { return state_; }
  const char* name() const { return name_; }
  Scope& scope() const { return scope_; }
  Domain& domain() const { return scope_.domain(); }

 private:
  friend class CancellationShield;
  friend class ReadyQueue;
  friend class WaitList;
  friend class Scope;
  friend class Domain;

  Fiber(Scope& scope, const char* name, std::byte* stack, const Scope::BodyActions& actions,
        void* body);
  ~Fiber() = default;

  static void enter(boost::context::detail::transfer_t from);
  void run_body() noexcept;
  /// Back to the scheduler; returns when the scheduler resumes this fiber.
  void switch_out();
  /// After its end, on the scheduler's stack: leaves scope and domain, gives back the stack.
  void destroy();
  void make_ready();
  void join_scope_and_domain();
  void leave_scope_and_domain();
  static void on_timer(void* fiber);

  Scope& scope_;
  Domain::Impl& domain_;
  Scheduler::Impl& scheduler_;
  const char* name_;

  boost::context::detail::fcontext_t context_ = nullptr;
  ExceptionGlobals exceptions_;
  void* sanitizer_shadow_ = nullptr;
  std::byte* stack_;
  void* body_;
  const Scope::BodyActions& actions_;

  Fiber* next_ready_ = nullptr;
  Fiber* scope_next_ = nullptr;
  Fiber* scope_previous_ = nullptr;
  Fiber* domain_next_ = nullptr;
  Fiber* domain_previous_ = nullptr;

  // While waiting.
  WaitList* list_ = nullptr;
  Fiber* list_next_ = nullptr;
  Fiber* list_previous_ = nullptr;
  Clock* clock_ = nullptr;
  Clock::TimerId timer_ = 0;

  State state_ = State::kReady;
  Wake wake_ = Wake::kWoken;
  Interruptible interruptible_ = Interruptible::kYes;
  bool cancelled_ = false;
  uint32_t shields_ = 0;
};

/// Ready fibers: first come, first served, or in an order drawn from a Random.
class ReadyQueue {
 public:
  explicit ReadyQueue(Random* order) : order_(order) {}

  bool empty() const { return head_ == nullptr && drawn_.empty(); }
  void push(Fiber& fiber);
  /// The fiber to run next. Must not be empty.
  Fiber& pop();
  /// Takes out the fibers of one domain, in the queue's order.
  std::vector<Fiber*> take(const Domain& domain);

 private:
  Random* order_;
  Fiber* head_ = nullptr;  // without `order_`: linked through the fibers
  Fiber* tail_ = nullptr;
  std::vector<Fiber*> drawn_;  // with `order_`
};

struct Scheduler::Impl {
  explicit Impl(Random* order) : ready(order) {}

  ReadyQueue ready;
  size_t live = 0;
  const void* last_ran = nullptr;
  // Where `run_one` continues when the running fiber suspends, and its stack's bounds.
  boost::context::detail::fcontext_t context = nullptr;
  const void* stack_bottom = nullptr;
  size_t stack_bytes = 0;
};

struct Domain::Impl {
  Impl(Scheduler& s, std::string n) : scheduler(s), name(std::move(n)) {}

  Scheduler& scheduler;
  std::string name;
  bool paused = false;
  bool killed = false;
  size_t live = 0;
  Fiber* fibers = nullptr;   // all of them, the newest first
  std::vector<Fiber*> held;  // ready, but paused; in the order in which they became ready
};

}  // namespace morula
