#include "prod/freed_memory.hpp"

#include <malloc.h>

namespace morula {

namespace {

constexpr int kLargeBytes = 256 * 1024;
constexpr int kTrimBytes = 1024 * 1024;
constexpr int kHeaps = 2;

}  // namespace

void return_freed_memory() {
  ::mallopt(M_MMAP_THRESHOLD, kLargeBytes);
  ::mallopt(M_TRIM_THRESHOLD, kTrimBytes);
  ::mallopt(M_ARENA_MAX, kHeaps);
}

}  // namespace morula
