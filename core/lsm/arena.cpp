#include "core/lsm/arena.hpp"

#include <algorithm>

#include "core/base/units.hpp"

namespace morula {
namespace {

constexpr size_t kAlignment = 8;
constexpr size_t kChunkMin = 4 * kKiB;
constexpr size_t kChunkMax = 256 * kKiB;

}  // namespace

char* Arena::allocate(size_t size) {
  size = (size + kAlignment - 1) / kAlignment * kAlignment;
  if (size > left_) {
    // A large piece gets memory of its own: the rest of the current chunk stays in use, and of the
    // chunks that are left behind three quarters are.
    if (size > std::max(chunk_size_, kChunkMin) / 4) return allocate_chunk(size);
    chunk_size_ = next_chunk();
    next_ = allocate_chunk(chunk_size_);
    left_ = chunk_size_;
  }
  char* piece = next_;
  next_ += size;
  left_ -= size;
  return piece;
}

uint64_t Arena::next_chunk() const {
  return std::clamp(chunk_size_ * 2, kChunkMin, kChunkMax);
}

char* Arena::allocate_chunk(size_t size) {
  chunks_.push_back(std::make_unique_for_overwrite<char[]>(size));
  bytes_ += size;
  return chunks_.back().get();
}

}  // namespace morula
