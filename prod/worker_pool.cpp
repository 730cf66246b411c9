#include "prod/worker_pool.hpp"

#include <pthread.h>
#include <signal.h>

#include <algorithm>

#include "core/base/check.hpp"

namespace morula {

WorkerPool::WorkerPool(size_t threads, const char* name) {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  for (size_t i = 0; i < threads; ++i) {
    threads_.emplace_back([this] { work_until_closed(); });
    ::pthread_setname_np(threads_.back().native_handle(), name);
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

WorkerPool::~WorkerPool() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  arrived_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void WorkerPool::submit(size_t priority, std::function<void()> work) {
  MORULA_CHECK(priority < kPriorities);
  {
    const std::lock_guard lock(mutex_);
    queues_[priority].push_back(std::move(work));
  }
  arrived_.notify_one();
}

void WorkerPool::work_until_closed() {
  for (;;) {
    std::function<void()> work;
    {
      std::unique_lock lock(mutex_);
      const auto filled = [this] {
        return std::find_if(queues_.begin(), queues_.end(),
                            [](const auto& queue) { return !queue.empty(); });
      };
      arrived_.wait(lock, [&] { return closed_ || filled() != queues_.end(); });
      const auto queue = filled();
      if (queue == queues_.end()) return;
      work = std::move(queue->front());
      queue->pop_front();
    }
    work();
  }
}

}  // namespace morula
