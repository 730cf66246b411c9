// What the kernel tells of file descriptors, for all watches of a loop, in batches.
//
// A descriptor that is asked about again and again stays registered: a busy connection costs no
// call to the kernel but the shared one that waits. Only when something happens that nobody asked
// about is the kernel told to be silent about it.
#pragma once

#include <sys/epoll.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "prod/loop.hpp"
#include "prod/posix_file.hpp"

namespace morula {

/// What belongs to one FdWatch.
struct PollerWatched {
  int fd;
  FdEvents* events;         // null once the watch is gone
  uint32_t registered = 0;  // what the kernel tells of: EPOLLIN, EPOLLOUT
  uint32_t awaited = 0;     // what was asked for and has not happened yet
};

class Poller {
 public:
  using Watched = PollerWatched;

  explicit Poller(const Clock& clock);

  /// To be given to `remove` in the end.
  Watched* add(int fd, FdEvents& events);
  void remove(Watched* watched);
  /// `what`: EPOLLIN or EPOLLOUT.
  void await(Watched& watched, uint32_t what);

  /// Tells each watch what has happened; before that, when `may_wait`, waits until something has.
  /// What happens while it tells belongs to the batch: one turn for many requests is cheaper than
  /// many turns.
  void poll(bool may_wait);
  /// When it last looked.
  Time looked_at() const { return looked_at_; }

 private:
  /// How many were told.
  size_t poll_once(bool may_wait);
  void tell(Watched& watched, uint32_t happened);
  void register_as(Watched& watched, uint32_t wanted);

  const Clock& clock_;
  Time looked_at_;
  UniqueFd epoll_;
  std::vector<epoll_event> batch_;
  bool telling_ = false;
  // Removed while a batch that may name them is told.
  std::vector<std::unique_ptr<Watched>> removed_;
};

}  // namespace morula
