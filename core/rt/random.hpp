// The only source of randomness: xoshiro256** (https://prng.di.unimi.it), seeded through
// splitmix64. Same seed, same numbers, on every platform.
#pragma once

#include <cstdint>

namespace morula {

class Random {
 public:
  explicit Random(uint64_t seed);

  uint64_t next();
  /// Uniform in [0, bound), without bias. `bound` > 0.
  uint64_t below(uint64_t bound);
  /// Uniform in [low, high], both included.
  uint64_t between(uint64_t low, uint64_t high) {
    const uint64_t span = high - low;
    return low + (span == UINT64_MAX ? next() : below(span + 1));
  }
  /// True `numerator` times out of `denominator`.
  bool chance(uint64_t numerator, uint64_t denominator) { return below(denominator) < numerator; }
  /// An independent generator; advances this one.
  Random fork() { return Random(next()); }

 private:
  uint64_t state_[4];
};

}  // namespace morula
