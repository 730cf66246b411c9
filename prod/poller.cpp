#include "prod/poller.hpp"

#include <cerrno>

#include "core/base/check.hpp"

namespace morula {
namespace {

constexpr size_t kBatch = 256;
constexpr int kAgainMax = 4;

}  // namespace

Poller::Poller(const Clock& clock)
    : clock_(clock),
      looked_at_(clock.now()),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      batch_(kBatch) {
  MORULA_CHECK(epoll_.get() >= 0, "the kernel gives no epoll");
}

Poller::Watched* Poller::add(int fd, FdEvents& events) {
  return new Watched{.fd = fd, .events = &events};
}

void Poller::remove(Watched* watched) {
  register_as(*watched, 0);
  watched->events = nullptr;
  std::unique_ptr<Watched> owned(watched);
  if (telling_) removed_.push_back(std::move(owned));
}

void Poller::await(Watched& watched, uint32_t what) {
  watched.awaited |= what;
  if ((watched.registered & what) == 0) register_as(watched, watched.registered | what);
}

void Poller::register_as(Watched& watched, uint32_t wanted) {
  if (wanted == watched.registered) return;
  epoll_event event{};
  event.events = wanted;
  event.data.ptr = &watched;
  // Errors and hang-ups are told of whatever is registered, over and over: so not with nothing.
  const int operation = watched.registered == 0 ? EPOLL_CTL_ADD
                        : wanted == 0           ? EPOLL_CTL_DEL
                                                : EPOLL_CTL_MOD;
  const bool done = ::epoll_ctl(epoll_.get(), operation, watched.fd, &event) == 0;
  MORULA_CHECK(done || operation == EPOLL_CTL_DEL, "a descriptor that can't be watched");
  watched.registered = wanted;
}

void Poller::poll(bool may_wait) {
  size_t told = poll_once(may_wait);
  for (int again = 0; told > 0 && again < kAgainMax; ++again) told = poll_once(false);
}

size_t Poller::poll_once(bool may_wait) {
  const int count =
      ::epoll_wait(epoll_.get(), batch_.data(), static_cast<int>(kBatch), may_wait ? -1 : 0);
  MORULA_CHECK(count >= 0 || errno == EINTR, "epoll_wait");
  looked_at_ = clock_.now();
  telling_ = true;
  for (int i = 0; i < count; ++i) {
    auto& watched = *static_cast<Watched*>(batch_[static_cast<size_t>(i)].data.ptr);
    if (watched.events != nullptr) tell(watched, batch_[static_cast<size_t>(i)].events);
  }
  telling_ = false;
  removed_.clear();
  return count > 0 ? static_cast<size_t>(count) : 0;
}

void Poller::tell(Watched& watched, uint32_t happened) {
  if ((happened & (EPOLLERR | EPOLLHUP)) != 0) happened |= EPOLLIN | EPOLLOUT;
  if ((happened & watched.awaited & EPOLLIN) != 0) {
    watched.awaited &= ~uint32_t{EPOLLIN};
    watched.events->on_readable();
    if (watched.events == nullptr) return;
    happened &= ~uint32_t{EPOLLIN};
  }
  if ((happened & watched.awaited & EPOLLOUT) != 0) {
    watched.awaited &= ~uint32_t{EPOLLOUT};
    watched.events->on_writable();
    if (watched.events == nullptr) return;
    happened &= ~uint32_t{EPOLLOUT};
  }
  // What is left happened unasked, and would be told again and again.
  const uint32_t unasked = happened & watched.registered & ~watched.awaited;
  if (unasked != 0) register_as(watched, watched.registered & ~unasked);
}

}  // namespace morula
