#include "bench/load/latency_histogram.hpp"

#include <algorithm>

namespace morula::load {

uint64_t LatencyHistogram::upper_end(size_t bucket) {
  if (bucket < (1U << kExactBits)) return bucket;
  const uint64_t shift = bucket / kPerPower - 1;
  const uint64_t mantissa = bucket - shift * kPerPower;
  return ((mantissa + 1) << shift) - 1;
}

uint64_t LatencyHistogram::percentile(double share) const {
  if (count_ == 0) return 0;
  const double wanted = share * static_cast<double>(count_);
  uint64_t below = 0;
  for (size_t bucket = 0; bucket < kBuckets; ++bucket) {
    below += counts_[bucket];
    if (counts_[bucket] > 0 && static_cast<double>(below) >= wanted) {
      return std::min(upper_end(bucket), largest_);
    }
  }
  return largest_;
}

}  // namespace morula::load
