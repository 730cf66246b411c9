// Work that other threads hand to a loop. They wake it only when it waits.
#pragma once

#include <functional>
#include <mutex>
#include <vector>

#include "prod/posix_file.hpp"

namespace morula {

class Inbox {
 public:
  Inbox();

  /// From any thread.
  void post(std::function<void()> action);

  // The rest is the loop's own.

  /// Before it waits for `fd` among others. False when there is work: don't wait.
  bool may_wait();
  /// Readable when work has come to a loop that waits.
  int fd() const { return wake_.get(); }
  /// `fd` was readable.
  void rang();
  /// After it has waited or not: runs what has come.
  void run();

 private:
  UniqueFd wake_;  // an eventfd
  std::mutex mutex_;
  std::vector<std::function<void()>> posted_;
  bool loop_waits_ = false;
  std::vector<std::function<void()>> running_;  // keeps its capacity
};

}  // namespace morula
