// Compute on threads.
#pragma once

#include "core/rt/compute.hpp"
#include "prod/loop.hpp"
#include "prod/worker_pool.hpp"

namespace morula {

class ThreadCompute final : public Compute {
 public:
  ThreadCompute(Loop& loop, size_t threads) : loop_(loop), workers_(threads, "morula-compute") {}

  void run(const std::function<void()>& work) override;

 private:
  Loop& loop_;
  WorkerPool workers_;
};

}  // namespace morula
