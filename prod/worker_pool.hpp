// Threads for what blocks: file calls and long computations. They know nothing of fibers or loop.
#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace morula {

class WorkerPool {
 public:
  static constexpr size_t kPriorities = 10;

  /// `name`: of the threads, at most 15 characters. Signals are left to the caller's thread.
  WorkerPool(size_t threads, const char* name);
  /// Runs what is queued, then ends.
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// Queues `work`, which must not throw. Lower priorities first; within one, first come, first
  /// served. The queue is as long as there are fibers that wait for it.
  void submit(size_t priority, std::function<void()> work);

 private:
  void work_until_closed();

  std::mutex mutex_;
  std::condition_variable arrived_;
  std::array<std::deque<std::function<void()>>, kPriorities> queues_;
  bool closed_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace morula
