// How the projections say that the code and the spec differ.
#pragma once

#include <string>
#include <string_view>

#include "invariants/violation.hpp"

namespace morula::invariants::twin {

class Findings {
 public:
  explicit Findings(Violations& violations) : violations_(violations) {}

  /// The time of what is told from now on.
  void set_time(Duration now) { now_ = now; }

  /// `step`: the spec's own text of it, with the projection's numbers; `what`: the same in the
  /// cell's names.
  void cannot(std::string_view spec, const std::string& step, const std::string& what) {
    report(spec, step + " cannot be taken: " + what);
  }
  void differs(std::string_view spec, const std::string& step, const std::string& what) {
    report(spec, step + " has another effect: " + what);
  }
  void none(std::string_view spec, const std::string& what) {
    report(spec, "no action does this: " + what);
  }

 private:
  void report(std::string_view spec, const std::string& text) {
    violations_.report(Invariant::kSpecStep, now_, "spec " + std::string(spec) + ": " + text);
  }

  Violations& violations_;
  Duration now_{};
};

}  // namespace morula::invariants::twin
