// How the projections ask the specs, and say that the code and the spec differ.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "invariants/violation.hpp"

namespace morula::invariants::twin {

class Findings {
 public:
  explicit Findings(Violations& violations) : violations_(violations) {}

  /// The time of what is told from now on.
  void set_time(Duration now) { now_ = now; }

  /// Whether the spec can take the step there. Counted, if so.
  template <class Spec>
  bool can(std::string_view spec, const Spec& twin, const typename Spec::State& state,
           const typename Spec::Step& step) {
    if (!twin.can(state, step)) return false;
    took(spec, Spec::actions()[static_cast<size_t>(step.action)]);
    return true;
  }
  /// `action`: lives as long as the program.
  void took(std::string_view spec, std::string_view action) { ++taken_[{spec, action}]; }
  /// How often each action of each spec was taken, by the spec's name and its own.
  using Taken = std::map<std::pair<std::string_view, std::string_view>, uint64_t>;
  const Taken& taken() const { return taken_; }

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
  Taken taken_;
};

}  // namespace morula::invariants::twin
