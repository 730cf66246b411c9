// Slows writers down when what they write piles up, the more the less room is left.
//
// At pressure p, in thousandths, writers of a shard pass one behind the other at
// `full_rate` * (1000 - p) / p bytes a second: about as fast as they like at first, ever slower
// towards the bound. So whatever the rate at which flushes and merges work the backlog off, there
// is a pressure at which writers are just as fast, and nobody is refused before.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "core/base/units.hpp"

namespace morula {

class WritePace {
 public:
  static constexpr uint64_t kFullPressure = 1000;

  /// How far `value` is between `soft` (0) and `hard` (kFullPressure).
  static uint64_t pressure(uint64_t value, uint64_t soft, uint64_t hard) {
    if (value <= soft) return 0;
    if (value >= hard) return kFullPressure;
    return (value - soft) * kFullPressure / (hard - soft);
  }

  /// When a write of `bytes` may go on; nullopt, and nothing is booked: not within `patience`.
  std::optional<Time> book(Time now, uint64_t bytes, uint64_t pressure, uint64_t full_rate,
                           Duration patience) {
    if (pressure == 0) {
      free_at_ = now;
      return now;
    }
    if (pressure >= kFullPressure) return std::nullopt;
    const uint64_t per_second =
        std::max<uint64_t>(full_rate / kFullPressure * (kFullPressure - pressure), 1);
    // In microseconds: a write has some MiB at most.
    const uint64_t takes_us = bytes * pressure / kFullPressure * 1'000'000 / per_second;
    const Time until = std::max(now, free_at_) + std::chrono::microseconds(takes_us);
    if (until - now > patience) return std::nullopt;
    free_at_ = until;
    return until;
  }

 private:
  Time free_at_{};  // when those who were let pass are through
};

}  // namespace morula
