// Scheduler, Domain and Scope: which fibers there are and which runs next.
#include "core/base/check.hpp"
#include "core/rt/fiber.hpp"
#include "core/rt/fiber_impl.hpp"
#include "core/rt/random.hpp"

namespace morula {

void ReadyQueue::push(Fiber& fiber) {
  if (order_ != nullptr) return drawn_.push_back(&fiber);
  fiber.next_ready_ = nullptr;
  (tail_ ? tail_->next_ready_ : head_) = &fiber;
  tail_ = &fiber;
}

Fiber& ReadyQueue::pop() {
  if (order_ != nullptr) {
    const size_t drawn = drawn_.size() == 1 ? 0 : order_->below(drawn_.size());
    std::swap(drawn_[drawn], drawn_.back());
    Fiber& fiber = *drawn_.back();
    drawn_.pop_back();
    return fiber;
  }
  Fiber& fiber = *head_;
  head_ = fiber.next_ready_;
  if (head_ == nullptr) tail_ = nullptr;
  return fiber;
}

std::vector<Fiber*> ReadyQueue::take(const Domain& domain) {
  std::vector<Fiber*> all = std::move(drawn_);
  drawn_.clear();
  for (Fiber* fiber = head_; fiber != nullptr; fiber = fiber->next_ready_) all.push_back(fiber);
  head_ = tail_ = nullptr;

  std::vector<Fiber*> taken;
  for (Fiber* fiber : all) {
    if (&fiber->domain() == &domain) {
      taken.push_back(fiber);
    } else {
      push(*fiber);
    }
  }
  return taken;
}

// --- Scheduler ---

Scheduler::Scheduler() : impl_(std::make_unique<Impl>(nullptr)) {}
Scheduler::Scheduler(Random& order) : impl_(std::make_unique<Impl>(&order)) {}

Scheduler::~Scheduler() {
  MORULA_CHECK(impl_->live == 0, "a fiber outlives its scheduler");
}

bool Scheduler::run_one() {
  if (impl_->ready.empty()) return false;
  Fiber& fiber = impl_->ready.pop();
  impl_->last_ran = &fiber.domain();
  fiber.resume();
  return true;
}

size_t Scheduler::run_ready(size_t limit) {
  size_t ran = 0;
  while (ran < limit && run_one()) ++ran;
  return ran;
}

bool Scheduler::has_ready() const {
  return !impl_->ready.empty();
}
size_t Scheduler::live() const {
  return impl_->live;
}
const void* Scheduler::last_ran() const {
  return impl_->last_ran;
}

// --- Domain ---

Domain::Domain(Scheduler& scheduler, std::string name)
    : impl_(std::make_unique<Impl>(scheduler, std::move(name))) {}

Domain::~Domain() {
  MORULA_CHECK(impl_->live == 0, "a fiber outlives its domain");
}

void Domain::pause() {
  if (impl_->paused || impl_->killed) return;
  impl_->paused = true;
  impl_->held = impl_->scheduler.impl_->ready.take(*this);
}

void Domain::resume() {
  if (!impl_->paused) return;
  impl_->paused = false;
  for (Fiber* fiber : impl_->held) impl_->scheduler.impl_->ready.push(*fiber);
  impl_->held.clear();
}

void Domain::kill() {
  MORULA_CHECK(Fiber::running() == nullptr || &Fiber::current().domain() != this,
               "a domain's own fiber must not kill it");
  impl_->killed = true;
  resume();
  for (Fiber* fiber = impl_->fibers; fiber != nullptr; fiber = fiber->domain_next_) {
    fiber->interrupt();
  }
}

bool Domain::paused() const {
  return impl_->paused;
}
bool Domain::killed() const {
  return impl_->killed;
}
size_t Domain::live() const {
  return impl_->live;
}
const std::string& Domain::name() const {
  return impl_->name;
}
Scheduler& Domain::scheduler() const {
  return impl_->scheduler;
}
Domain& Domain::current() {
  return Fiber::current().domain();
}

// --- Scope ---

Scope::Scope(Domain& domain) : domain_(domain) {}

Scope::~Scope() {
  MORULA_CHECK(live_ == 0, "a fiber outlives its scope");
}

void Scope::start(const char* name, const BodyActions& actions, void* source) {
  Fiber::start(*this, name, actions, source);
}

void Scope::cancel() {
  cancelled_ = true;
  for (Fiber* child = children_; child != nullptr; child = child->scope_next_) child->cancel();
}

void Scope::join() {
  while (live_ > 0) empty_.wait();
}

void Scope::close() {
  cancel();
  MORULA_CHECK(live_ == 0 || &Fiber::current().scope() != this, "a child must not close its scope");
  while (live_ > 0) empty_.wait_uncancellable();
  if (Fiber* fiber = Fiber::running()) fiber->throw_if_stopped();
}

size_t Scope::live() const {
  return live_;
}

}  // namespace morula
