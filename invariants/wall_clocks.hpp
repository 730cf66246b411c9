// What the wall clocks of the cell's instances have shown: what deadlines may be judged by.
//
// Nobody can say what time it "is" in a cell whose clocks differ and are set: a deadline may pass
// at the moment the furthest one has reached it, and must have passed once the slowest one has.
#pragma once

#include <vector>

#include "core/base/units.hpp"

namespace morula::invariants {

class WallClocks {
 public:
  /// Of all instances at one moment.
  struct Reading {
    WallTime slowest;
    WallTime fastest;
  };

  /// Moments never go back. To be called at every moment that is asked about, and before and after
  /// somebody sets a clock.
  void read(Duration at, const Reading& reading);
  bool known() const { return !moments_.empty(); }

  /// The highest that any has shown up to `until`.
  WallTime highest(Duration until) const;
  /// The lowest that any has shown from `from` to `until`.
  WallTime lowest(Duration from, Duration until) const;

 private:
  struct Moment {
    Duration at;
    WallTime slowest;
    WallTime highest;  // up to then
  };
  std::vector<Moment> moments_;
};

}  // namespace morula::invariants
