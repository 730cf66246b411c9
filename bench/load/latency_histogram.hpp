// Latencies of any number of requests in 30 KiB: buckets whose width is at most 1/64 of their
// value, so a percentile is right to 1.6 %.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace morula::load {

class LatencyHistogram {
 public:
  void add(int64_t nanoseconds) {
    const uint64_t value = nanoseconds < 0 ? 0 : static_cast<uint64_t>(nanoseconds);
    ++counts_[bucket_of(value)];
    ++count_;
    if (value > largest_) largest_ = value;
  }

  uint64_t count() const { return count_; }
  /// The largest value, exactly, in ns; 0 when there is none.
  uint64_t largest() const { return largest_; }
  /// The least value, in ns, that at least `share` (0 to 1) of all values do not exceed.
  uint64_t percentile(double share) const;
  void clear() { *this = {}; }

 private:
  // Values below 2^7 have a bucket each; above, each power of two has 64.
  static constexpr int kExactBits = 7;
  static constexpr uint64_t kPerPower = 64;
  static constexpr size_t kBuckets = 128 + (64 - kExactBits) * kPerPower;

  static size_t bucket_of(uint64_t value) {
    if (value < (1U << kExactBits)) return value;
    const int shift = std::bit_width(value) - kExactBits;
    return static_cast<size_t>(shift) * kPerPower + (value >> shift);
  }
  static uint64_t upper_end(size_t bucket);

  std::array<uint64_t, kBuckets> counts_{};
  uint64_t count_ = 0;
  uint64_t largest_ = 0;
};

}  // namespace morula::load
