#include "core/rt/stack_pool.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include "core/base/check.hpp"

namespace morula {
namespace {

// How much of an idle stack the sanitizer guards: the upper part, where most of a fiber lies.
// Guarding a stack in full would cost an eighth of it in memory.
constexpr size_t kWatchedBytes = 64 * size_t{1024};

size_t guard_bytes() {
  static const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return page;
}

std::byte* map_stack() {
  void* mapping = mmap(nullptr, guard_bytes() + StackPool::kStackBytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  MORULA_CHECK(mapping != MAP_FAILED, "no memory for a fiber's stack");
  const int guarded = mprotect(mapping, guard_bytes(), PROT_NONE);
  MORULA_CHECK(guarded == 0, "too many mappings for another stack's guard page");
  std::byte* bottom = static_cast<std::byte*>(mapping) + guard_bytes();
  sanitizer::stack_mapped(bottom, StackPool::kStackBytes);
  return bottom;
}

void unmap_stack(std::byte* bottom) {
  sanitizer::stack_unmapped(bottom, StackPool::kStackBytes);
  munmap(bottom - guard_bytes(), guard_bytes() + StackPool::kStackBytes);
}

}  // namespace

StackPool::~StackPool() {
  for (std::byte* bottom : warm_) unmap_stack(bottom);
  for (std::byte* bottom : cold_) unmap_stack(bottom);
}

std::byte* StackPool::acquire() {
  MORULA_CHECK(in_use_ < kStacksMax, "too many fibers live at once");
  ++in_use_;
  std::vector<std::byte*>& idle = warm_.empty() ? cold_ : warm_;
  if (idle.empty()) return map_stack();
  std::byte* bottom = idle.back();
  idle.pop_back();
  sanitizer::stack_in_use(bottom + kStackBytes - kWatchedBytes, kWatchedBytes);
  return bottom;
}

void StackPool::release(std::byte* bottom) {
  --in_use_;
  if (warm_.size() < kWarmStacks) {
    warm_.push_back(bottom);
  } else {
    madvise(bottom, kStackBytes, MADV_DONTNEED);
    cold_.push_back(bottom);
  }
  sanitizer::stack_idle(bottom + kStackBytes - kWatchedBytes, kWatchedBytes);
}

StackPool& StackPool::of_this_thread() {
  thread_local StackPool pool;
  return pool;
}

}  // namespace morula
