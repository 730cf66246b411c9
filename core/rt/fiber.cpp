#include "core/rt/fiber.hpp"

#include <cxxabi.h>

#include <cstring>

#include "core/base/check.hpp"
#include "core/rt/fiber_impl.hpp"
#include "core/rt/sanitizer.hpp"
#include "core/rt/stack_pool.hpp"

namespace morula {
namespace {

using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;

// Per thread only so that independent schedulers can run in one process, as tests do.
constinit thread_local Fiber* running_fiber = nullptr;

/// Puts `fiber_globals` in the place of the thread's, and the other way round.
void exchange_exception_globals(ExceptionGlobals& fiber_globals) {
  void* const thread_globals = abi::__cxa_get_globals();
  ExceptionGlobals kept;
  std::memcpy(static_cast<void*>(&kept), thread_globals, sizeof(kept));
  std::memcpy(thread_globals, &fiber_globals, sizeof(kept));
  fiber_globals = kept;
}

}  // namespace

// --- Life of a fiber ---

Fiber::Fiber(Scope& scope, const char* name, std::byte* stack, const Scope::BodyActions& actions,
             void* body)
    : scope_(scope),
      domain_(*scope.domain().impl_),
      scheduler_(*domain_.scheduler.impl_),
      name_(name),
      stack_(stack),
      body_(body),
      actions_(actions) {}

Fiber* Fiber::running() {
  return running_fiber;
}

Fiber& Fiber::current() {
  MORULA_CHECK(running_fiber != nullptr, "only a fiber can do this");
  return *running_fiber;
}

void Fiber::start(Scope& scope, const char* name, const Scope::BodyActions& actions, void* source) {
  // From the top down: control block, body, frames.
  constexpr size_t kFrameAlignment = 16;
  const auto down_to = [](std::byte* place, size_t alignment) {
    return place - reinterpret_cast<uintptr_t>(place) % alignment;
  };
  MORULA_CHECK(actions.size + actions.alignment <= StackPool::kStackBytes / 4,
               "too large to start a fiber with");

  StackPool& stacks = StackPool::of_this_thread();
  std::byte* stack = stacks.acquire();
  std::byte* block = down_to(stack + StackPool::kStackBytes - sizeof(Fiber), alignof(Fiber));
  std::byte* body = down_to(block - actions.size, actions.alignment);
  std::byte* top = down_to(body, kFrameAlignment);
  try {
    actions.construct(body, source);
  } catch (...) {  // out of memory, say: the caller has no new child
    stacks.release(stack);
    throw;
  }
  auto* fiber = new (block) Fiber(scope, name, stack, actions, body);
  fiber->context_ = make_fcontext(top, static_cast<size_t>(top - stack), &Fiber::enter);
  fiber->join_scope_and_domain();
  fiber->make_ready();
}

void Fiber::enter(transfer_t from) {
  Fiber& self = *static_cast<Fiber*>(from.data);
  Scheduler::Impl& scheduler = self.scheduler_;
  scheduler.context = from.fctx;
  sanitizer::after_switch(nullptr, &scheduler.stack_bottom, &scheduler.stack_bytes);
  self.run_body();
  self.state_ = State::kEnded;
  sanitizer::before_switch(nullptr, scheduler.stack_bottom, scheduler.stack_bytes);
  jump_fcontext(scheduler.context, nullptr);
  __builtin_unreachable();
}

void Fiber::run_body() noexcept {
  try {
    if (!domain_.killed) actions_.run(body_);
  } catch (const Cancelled&) {  // this is where a cancelled fiber was to arrive
  } catch (const std::exception& error) {
    check_failed(error.what(), name_, 0, "an exception left the body of the fiber of this name");
  } catch (...) {
    check_failed("?", name_, 0, "an exception left the body of the fiber of this name");
  }
  actions_.destroy(body_);
}

void Fiber::resume() {
  MORULA_CHECK(running_fiber == nullptr, "a fiber must not run other fibers");
  state_ = State::kRunning;
  running_fiber = this;
  exchange_exception_globals(exceptions_);
  void* shadow = nullptr;
  sanitizer::before_switch(&shadow, stack_, StackPool::kStackBytes);
  const transfer_t back = jump_fcontext(context_, this);
  sanitizer::after_switch(shadow, nullptr, nullptr);
  exchange_exception_globals(exceptions_);
  running_fiber = nullptr;
  context_ = back.fctx;
  if (state_ == State::kEnded) destroy();
}

void Fiber::switch_out() {
  sanitizer::before_switch(&sanitizer_shadow_, scheduler_.stack_bottom, scheduler_.stack_bytes);
  const transfer_t back = jump_fcontext(scheduler_.context, nullptr);
  scheduler_.context = back.fctx;
  sanitizer::after_switch(sanitizer_shadow_, &scheduler_.stack_bottom, &scheduler_.stack_bytes);
}

void Fiber::destroy() {
  leave_scope_and_domain();
  std::byte* stack = stack_;
  this->~Fiber();
  StackPool::of_this_thread().release(stack);
}

void Fiber::join_scope_and_domain() {
  scope_next_ = scope_.children_;
  if (scope_next_) scope_next_->scope_previous_ = this;
  scope_.children_ = this;
  ++scope_.live_;
  cancelled_ = scope_.cancelled_;

  domain_next_ = domain_.fibers;
  if (domain_next_) domain_next_->domain_previous_ = this;
  domain_.fibers = this;
  ++domain_.live;
  ++scheduler_.live;
}

void Fiber::leave_scope_and_domain() {
  --scheduler_.live;
  --domain_.live;
  (domain_previous_ ? domain_previous_->domain_next_ : domain_.fibers) = domain_next_;
  if (domain_next_) domain_next_->domain_previous_ = domain_previous_;

  (scope_previous_ ? scope_previous_->scope_next_ : scope_.children_) = scope_next_;
  if (scope_next_) scope_next_->scope_previous_ = scope_previous_;
  if (--scope_.live_ == 0) scope_.empty_.wake_all();
}

// --- Waiting and waking ---

void Fiber::make_ready() {
  state_ = State::kReady;
  if (domain_.paused) {
    domain_.held.push_back(this);
  } else {
    scheduler_.ready.push(*this);
  }
}

Fiber::Wake Fiber::wait(WaitList& list, Clock* clock, Time deadline, Interruptible interruptible) {
  MORULA_CHECK(running_fiber == this);
  MORULA_CHECK(std::uncaught_exceptions() == 0, "no suspension while an exception unwinds");
  interruptible_ = interruptible;
  if (interruptible == Interruptible::kYes) throw_if_stopped();

  list_ = &list;
  list_previous_ = list.tail_;
  list_next_ = nullptr;
  (list.tail_ ? list.tail_->list_next_ : list.head_) = this;
  list.tail_ = this;
  state_ = State::kWaiting;
  if (clock != nullptr && deadline != kNever) {
    clock_ = clock;
    timer_ = clock->arm(deadline, &Fiber::on_timer, this);
  }
  switch_out();

  if (interruptible == Interruptible::kYes) {
    if (wake_ == Wake::kCancelled) throw Cancelled{};
    if (domain_.killed) throw Cancelled{.woken = wake_ == Wake::kWoken};
  }
  return wake_;
}

void Fiber::end_wait(Wake why) {
  MORULA_CHECK(state_ == State::kWaiting);
  (list_previous_ ? list_previous_->list_next_ : list_->head_) = list_next_;
  (list_next_ ? list_next_->list_previous_ : list_->tail_) = list_previous_;
  list_ = nullptr;
  if (timer_ != 0) clock_->disarm(timer_);
  timer_ = 0;
  wake_ = why;
  make_ready();
}

void Fiber::on_timer(void* argument) {
  auto* fiber = static_cast<Fiber*>(argument);
  fiber->timer_ = 0;  // it has fired
  fiber->end_wait(Wake::kTimedOut);
}

void Fiber::yield() {
  MORULA_CHECK(std::uncaught_exceptions() == 0, "no suspension while an exception unwinds");
  throw_if_stopped();
  make_ready();
  switch_out();
  throw_if_stopped();
}

void Fiber::cancel() {
  cancelled_ = true;
  interrupt();
}

void Fiber::interrupt() {
  if (state_ == State::kWaiting && interruptible_ == Interruptible::kYes && must_stop()) {
    end_wait(Wake::kCancelled);
  }
}

bool Fiber::must_stop() const {
  return domain_.killed || (cancelled_ && shields_ == 0);
}

void Fiber::throw_if_stopped() const {
  if (must_stop()) throw Cancelled{};
}

WaitList::~WaitList() {
  MORULA_CHECK(head_ == nullptr, "a fiber still waits here");
}

void WaitList::wait() {
  Fiber::current().wait(*this, nullptr, kNever, Fiber::Interruptible::kYes);
}

bool WaitList::wait_until(Clock& clock, Time deadline) {
  return Fiber::current().wait(*this, &clock, deadline, Fiber::Interruptible::kYes) ==
         Fiber::Wake::kWoken;
}

void WaitList::wait_uncancellable() {
  Fiber::current().wait(*this, nullptr, kNever, Fiber::Interruptible::kNo);
}

bool WaitList::wake_one() {
  if (head_ == nullptr) return false;
  head_->end_wait(Fiber::Wake::kWoken);
  return true;
}

void WaitList::wake_all() {
  while (wake_one()) {
  }
}

void yield() {
  Fiber::current().yield();
}

const void* this_fiber() {
  return Fiber::running();
}

CancellationShield::CancellationShield() : fiber_(&Fiber::current()) {
  ++fiber_->shields_;
}

CancellationShield::~CancellationShield() {
  MORULA_CHECK(Fiber::running() == fiber_, "a shield covers the fiber that made it");
  --fiber_->shields_;
}

}  // namespace morula
