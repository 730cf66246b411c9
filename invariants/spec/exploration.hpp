// Every state that a spec can reach under a configuration: breadth first, each once.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "invariants/spec/model_config.hpp"
#include "invariants/spec/state_space.hpp"
#include "invariants/spec/values.hpp"

namespace morula::spec {

struct Exploration {
  uint64_t distinct = 0;
  uint64_t transitions = 0;  // steps taken, also those that led to a known state
  int depth = 1;             // of the deepest state: states on the way, both ends included
  uint64_t memory_bytes = 0;
  std::string violated;            // the first invariant that a state violated; empty: none
  std::vector<std::string> trace;  // the steps to that state
  bool complete = false;           // no violation, and no limit reached

  /// States on the way to the violation, the initial one included.
  int trace_length() const { return violated.empty() ? 0 : static_cast<int>(trace.size()) + 1; }
};

struct Limits {
  uint64_t memory_bytes = uint64_t{4} << 30;
  /// Called now and then, with what was found so far.
  std::function<void(const Exploration&)> progress;
};

/// A Spec has State, Step, initial, each_step, can, take, holds, describe (see ownership_log.hpp).
template <class Spec>
class Explorer {
 public:
  Explorer(const Spec& spec, std::vector<std::string> invariants, const Limits& limits)
      : spec_(spec), invariants_(std::move(invariants)), limits_(limits) {}

  Exploration run() {
    add(spec_.initial(), StateSpace::kNone);
    typename Spec::State now;
    typename Spec::State after;
    StateSpace::Id level_end = space_.size();
    for (StateSpace::Id id = 0; id < space_.size() && found_.violated.empty(); ++id) {
      if (id == level_end) {
        level_end = space_.size();
        ++found_.depth;
      }
      if (id % kProgressEvery == 0 && !go_on()) return std::move(found_);
      decoder_.decode(space_.bytes(id), now);
      spec_.each_step(now, [&](const typename Spec::Step& step) {
        if (!found_.violated.empty() || !spec_.can(now, step)) return;
        after = now;
        spec_.take(now, step, after);
        ++found_.transitions;
        add(after, id);
      });
    }
    found_.complete = found_.violated.empty();
    count();
    return std::move(found_);
  }

 private:
  static constexpr StateSpace::Id kProgressEvery = 1 << 14;

  bool go_on() {
    count();
    if (limits_.progress) limits_.progress(found_);
    return found_.memory_bytes <= limits_.memory_bytes;
  }
  void count() {
    found_.distinct = space_.size();
    found_.memory_bytes = space_.memory_bytes();
  }

  void add(const typename Spec::State& state, StateSpace::Id parent) {
    const auto id = space_.add(encoder_.encode(state), parent);
    if (!id) return;
    for (const std::string& invariant : invariants_) {
      if (spec_.holds(invariant, state)) continue;
      found_.violated = invariant;
      found_.trace = path_to(*id);
      return;
    }
  }

  /// Which steps they were is not stored; each is found again between two states.
  std::vector<std::string> path_to(StateSpace::Id id) {
    std::vector<StateSpace::Id> states;
    for (; id != StateSpace::kNone; id = space_.parent(id)) states.insert(states.begin(), id);
    std::vector<std::string> path;
    for (size_t n = 1; n < states.size(); ++n) {
      typename Spec::State now;
      decoder_.decode(space_.bytes(states[n - 1]), now);
      spec_.each_step(now, [&](const typename Spec::Step& step) {
        if (path.size() == n || !spec_.can(now, step)) return;
        typename Spec::State after = now;
        spec_.take(now, step, after);
        if (encoder_.encode(after) == space_.bytes(states[n])) path.push_back(Spec::describe(step));
      });
    }
    return path;
  }

  const Spec& spec_;
  const std::vector<std::string> invariants_;
  const Limits& limits_;
  StateSpace space_;
  StateEncoder encoder_;
  StateDecoder decoder_;
  Exploration found_;
};

/// The spec of this name (OwnershipLog, Topology or Lease), under a configuration. kInvalid: there
/// is none, or the configuration is not one of it.
Result<Exploration> explore(std::string_view spec, const ModelConfig& config, const Limits& limits);

}  // namespace morula::spec
