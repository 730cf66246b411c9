// Stacks for fibers.
//
// Problem: a fiber lives for microseconds and there are thousands of them. Mapping a stack costs
// more than most fibers do, and a stack that was once deep keeps its memory for good.
//
// What it promises: each stack ends in a guard page, so an overflow is a fault and never silent
// damage. Only touched pages cost memory. Idle stacks are reused, the last returned first; the
// first `kWarmStacks` of them keep their pages, the others give them back to the kernel.
#pragma once

#include <cstddef>
#include <vector>

#include "core/rt/sanitizer.hpp"

namespace morula {

class StackPool {
 public:
#if defined(__OPTIMIZE__)
  static constexpr size_t kStackBytes = (sanitizer::kEnabled ? 256 : 64) * size_t{1024};
#else
  static constexpr size_t kStackBytes = 256 * size_t{1024};  // frames are larger unoptimized
#endif
  /// A stack and its guard are two mappings, and the kernel allows a process 65,530.
  static constexpr size_t kStacksMax = 16'000;
  static constexpr size_t kWarmStacks = 512;

  StackPool() = default;
  /// Unmaps the idle stacks. Those in use stay: a process may exit from within a fiber.
  ~StackPool();
  StackPool(const StackPool&) = delete;
  StackPool& operator=(const StackPool&) = delete;

  /// The lowest usable byte of a stack of kStackBytes. Checks that fewer than kStacksMax are in use
  /// and that the kernel has memory.
  std::byte* acquire();
  void release(std::byte* bottom);

  size_t in_use() const { return in_use_; }

  /// The pool of the calling thread: schedulers that come and go on it share their stacks.
  static StackPool& of_this_thread();

 private:
  std::vector<std::byte*> warm_;
  std::vector<std::byte*> cold_;
  size_t in_use_ = 0;
};

}  // namespace morula
