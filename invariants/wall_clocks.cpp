#include "invariants/wall_clocks.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace morula::invariants {

void WallClocks::read(Duration at, const Reading& reading) {
  WallTime highest = reading.fastest;
  if (!moments_.empty()) highest = std::max(highest, moments_.back().highest);
  moments_.push_back({at, reading.slowest, highest});
}

WallTime WallClocks::highest(Duration until) const {
  const auto behind =
      std::upper_bound(moments_.begin(), moments_.end(), until,
                       [](Duration at, const Moment& moment) { return at < moment.at; });
  return behind == moments_.begin() ? WallTime{std::numeric_limits<int64_t>::max()}
                                    : std::prev(behind)->highest;
}

WallTime WallClocks::lowest(Duration from, Duration until) const {
  auto moment = std::lower_bound(moments_.begin(), moments_.end(), from,
                                 [](const Moment& one, Duration at) { return one.at < at; });
  WallTime lowest{std::numeric_limits<int64_t>::max()};
  for (; moment != moments_.end() && moment->at <= until; ++moment) {
    lowest = std::min(lowest, moment->slowest);
  }
  return lowest;
}

}  // namespace morula::invariants
