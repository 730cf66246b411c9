// How the heap treats memory that has been freed.
#pragma once

namespace morula {

/// Large blocks of memory (tables that are written, bodies) are given back to the system as soon as
/// they are freed, and threads share two heaps. The C library's own rules would keep the largest
/// that there ever were: some hundred MiB in a process that flushes and compacts. Once, at the
/// start, before other threads.
void return_freed_memory();

}  // namespace morula
