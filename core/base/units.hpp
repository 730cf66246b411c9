// Units as types, so that a byte count is never taken for a sequence number.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>

namespace morula {

/// A whole number with a meaning. Distinct tags do not mix. Arithmetic is with plain counts.
template <class Tag, class T = uint64_t>
struct Count {
  T value{};

  constexpr Count() = default;
  constexpr explicit Count(T v) : value(v) {}
  friend constexpr auto operator<=>(const Count&, const Count&) = default;
  constexpr Count operator+(T n) const { return Count(value + n); }
  constexpr Count operator-(T n) const { return Count(value - n); }
  constexpr Count& operator++() {
    ++value;
    return *this;
  }
  /// The distance to an earlier count. The caller knows that `other <= *this`.
  constexpr T operator-(Count other) const { return value - other.value; }
};

/// Number of an object in an incarnation's log; the first is 0.
using LogSeq = Count<struct LogSeqTag>;
/// How often a shard has changed hands.
using Epoch = Count<struct EpochTag>;
/// Number of a document's content: topology, manifest, member. Raised by every swap.
using Version = Count<struct VersionTag>;
/// Which creation of a path: raised by every create of the same StreamId. The first is 1.
using Generation = Count<struct GenerationTag>;
/// Number of a change of a stream within its generation: raised by every change.
using ChangeNumber = Count<struct ChangeNumberTag>;

using Duration = std::chrono::nanoseconds;

/// Tag of the monotonic clock of one process, which counts suspended time. It has no `now()`:
/// time comes from `Clock` (core/rt/clock.hpp) alone.
struct MonotonicClock {
  using duration = Duration;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<MonotonicClock, Duration>;
  static constexpr bool is_steady = true;
};
using Time = MonotonicClock::time_point;

/// Later than everything: "no deadline".
inline constexpr Time kNever = Time::max();

/// Milliseconds since 1970-01-01 UTC. May jump; never used for ordering or leases.
struct WallTime {
  int64_t ms = 0;
  friend constexpr auto operator<=>(const WallTime&, const WallTime&) = default;
};

inline constexpr uint64_t kKiB = 1024;
inline constexpr uint64_t kMiB = 1024 * kKiB;

}  // namespace morula
