// Memory that is handed out in small pieces and freed all at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace morula {

class Arena {
 public:
  /// Uninitialized, aligned for any pointer or 64-bit integer, valid as long as the arena.
  char* allocate(size_t size);
  /// Bytes taken from the heap.
  uint64_t bytes() const { return bytes_; }
  /// The most that the next small piece can take from the heap.
  uint64_t next_chunk() const;

 private:
  char* allocate_chunk(size_t size);

  std::vector<std::unique_ptr<char[]>> chunks_;
  char* next_ = nullptr;
  size_t left_ = 0;
  size_t chunk_size_ = 0;  // of the last chunk: they double, so that a small arena is small
  uint64_t bytes_ = 0;
};

}  // namespace morula
