// A lease is over for its holder before it is over for anybody else (OWNERSHIP, Reads): when a
// member document turns to `expired`, its incarnation no longer believes that its lease holds.
//
// This is what makes reads linearizable; to see it broken needs no reader. An incarnation whose
// process is dead believes nothing.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/ids.hpp"
#include "core/base/units.hpp"
#include "core/rt/trace.hpp"
#include "invariants/violation.hpp"

namespace morula::invariants {

/// What the monotonic clock of the instance of this name shows; nullopt when nobody can tell.
using LocalClocks = std::function<std::optional<Time>(std::string_view instance)>;

class LeaseRules {
 public:
  explicit LeaseRules(Violations& violations) : violations_(violations) {}

  /// Without clocks, nothing is checked.
  void watch(LocalClocks clocks) { clocks_ = std::move(clocks); }
  void step(const StepEvent& event);
  /// `key` now holds `body`.
  void object_written(std::string_view key, std::string_view body, Duration now);
  /// The process of this name is dead, or its instance has ended.
  void stopped(std::string_view process);

 private:
  struct Belief {
    std::string incarnation;
    Time until;  // of its own clock
  };

  LocalClocks clocks_;
  Violations& violations_;
  std::map<std::string, Belief, std::less<>> beliefs_;  // by instance
};

}  // namespace morula::invariants
