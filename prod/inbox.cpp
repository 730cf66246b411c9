#include "prod/inbox.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <utility>

#include "core/base/check.hpp"

namespace morula {

Inbox::Inbox() : wake_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  MORULA_CHECK(wake_.get() >= 0, "the kernel gives no eventfd");
}

void Inbox::post(std::function<void()> action) {
  bool wakes = false;
  {
    const std::lock_guard lock(mutex_);
    posted_.push_back(std::move(action));
    wakes = std::exchange(loop_waits_, false);
  }
  if (!wakes) return;
  const uint64_t one = 1;
  (void)!::write(wake_.get(), &one, sizeof(one));
}

bool Inbox::may_wait() {
  const std::lock_guard lock(mutex_);
  loop_waits_ = posted_.empty();
  return loop_waits_;
}

void Inbox::rang() {
  uint64_t count = 0;
  (void)!::read(wake_.get(), &count, sizeof(count));
}

void Inbox::run() {
  {
    const std::lock_guard lock(mutex_);
    loop_waits_ = false;
    running_.swap(posted_);
  }
  for (const auto& action : running_) action();
  running_.clear();
}

}  // namespace morula
