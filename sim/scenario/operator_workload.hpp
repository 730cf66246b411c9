// Operators of the cell, and a check of what they are answered (invariant 16).
#pragma once

#include <deque>

#include "invariants/cell_answers.hpp"
#include "sim/clients/cell_operator.hpp"
#include "sim/scenario/workload.hpp"
#include "sim/world/observer.hpp"

namespace morula::sim {

class OperatorWorkload final : public Workload, private Observer {
 public:
  std::string_view name() const override { return "operators"; }
  void setup(Simulation& simulation) override;
  std::string awaited(Simulation& simulation) override;
  uint64_t operations() const override;

 private:
  void on_store_changed(const StoreRequest& request, std::string_view key,
                        const Blob& body) override;
  void add_operator(Simulation& simulation);

  std::deque<CellOperator> operators_;
  invariants::CellAnswers answers_;
};

}  // namespace morula::sim
