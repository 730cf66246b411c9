// Counts heap allocations of a benchmark, each thread its own. Replaces operator new: include it in
// one file of a program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace morula {

inline thread_local uint64_t allocations = 0;
inline thread_local uint64_t allocated_bytes = 0;

}  // namespace morula

// Not inlined: GCC would see a free of what a new has returned, and warn.
[[gnu::noinline]] void* operator new(size_t size) {
  ++morula::allocations;
  morula::allocated_bytes += size;
  if (void* place = std::malloc(size)) return place;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* place) noexcept {
  std::free(place);
}
[[gnu::noinline]] void operator delete(void* place, size_t) noexcept {
  std::free(place);
}
