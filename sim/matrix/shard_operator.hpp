// An operator who asks for one change of a shard until it is made, or refused for good, and whose
// answers are judged (invariant 16).
#pragma once

#include <string>

#include "core/api/cell_steps.hpp"
#include "core/rt/env.hpp"
#include "invariants/cell_answers.hpp"
#include "sim/scenario/simulation.hpp"

namespace morula::sim {

class ShardOperator {
 public:
  /// Asks `first`, an address, and whoever there is when that does not answer. `answers` knows all
  /// topologies that there have been. Everything outlives the operator.
  ShardOperator(Simulation& simulation, const invariants::CellAnswers& answers, CellStep step,
                std::string first)
      : simulation_(simulation),
        answers_(answers),
        step_(std::move(step)),
        first_(std::move(first)) {}

  /// In a process of its own. Throws Cancelled.
  void run(const Env& env);
  bool done() const { return done_; }
  std::string text() const;

 private:
  /// Whether it need not be asked for again.
  bool ask(const Env& env, const std::string& address);
  bool judge(const std::string& body, Version asked_at);

  Simulation& simulation_;
  const invariants::CellAnswers& answers_;
  const CellStep step_;
  const std::string first_;
  bool done_ = false;
};

}  // namespace morula::sim
