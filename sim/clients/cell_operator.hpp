// An operator of the cell: one process that asks random instances for splits, merges, moves,
// drains and balances, one after the other. Some can't be done, some are so already, some go by
// what he saw long ago, some come at once with another of the same lineage.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/api/cell_steps.hpp"
#include "core/rt/env.hpp"
#include "sim/clients/operator_habits.hpp"

namespace morula::sim {

class CellOperator {
 public:
  /// Instances by address and name. Everything referred to outlives the operator.
  CellOperator(std::vector<std::string> addresses, std::vector<std::string> names,
               const OperatorHabits& habits)
      : addresses_(std::move(addresses)), names_(std::move(names)), habits_(habits) {}

  /// Asked for what is to be told with the answer to a step, when it is asked for.
  std::function<Version()> now;
  /// Told of each step that was answered as done; `asked_at`: what `now` said.
  std::function<void(const CellStep&, const Changed&, Version asked_at)> on_done;
  /// Told of an answer that there is no place for.
  std::function<void(const std::string&)> on_unexpected;

  /// Works while `active()`. Throws Cancelled.
  void run(const Env& env, const std::function<bool()>& active);

  bool done() const { return done_; }
  /// Steps and relocations that were answered, or given up.
  uint64_t operations() const { return operations_; }

 private:
  struct Seen {
    Prefix prefix;
    std::string owner;
  };

  void look(const Env& env);
  void change_something(const Env& env);
  CellStep draw_step(const Env& env) const;
  CellStep draw_nonsense(const Env& env) const;
  CellStep draw_relative(const Env& env, const CellStep& of) const;
  void ask(const Env& env, const CellStep& step);
  void relocate(const Env& env);
  /// The answer's body if it is 200; otherwise empty.
  std::string call(const Env& env, const HttpRequest& request);
  const std::string& some(const Env& env, const std::vector<std::string>& of) const;

  const std::vector<std::string> addresses_;
  const std::vector<std::string> names_;
  const OperatorHabits habits_;
  std::vector<Seen> shards_;  // as they were when he looked
  uint64_t operations_ = 0;
  bool done_ = false;
};

}  // namespace morula::sim
