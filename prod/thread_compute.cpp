#include "prod/thread_compute.hpp"

#include "core/rt/sync.hpp"

namespace morula {

void ThreadCompute::run(const std::function<void()>& work) {
  const Completion<bool> done;
  workers_.submit(0, [this, &work, &done] {
    work();
    // The waiter, and with it `done`, stays until this has run on the loop.
    loop_.post([&done] { done.complete(true); });
  });
  done.wait_uncancellable();
}

}  // namespace morula
