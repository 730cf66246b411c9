// Operators of the cell, and a check of what they are answered (invariant 16). Awaits, after
// healing, that nothing is left half done: no manifest in the topology stays sealed. Checks that an
// owner that has answered all changes has left none of its own so (Reopen), and that a receiver
// tells all asks of an attempt the same position (Accept).
#pragma once

#include <deque>
#include <initializer_list>
#include <map>
#include <set>

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
  void on_call_arrived(ProcessId at, uint64_t number, const HttpRequest& request) override;
  void on_call_answered(ProcessId at, uint64_t number, const HttpRequest& request,
                        const HttpResponse* response) override;
  void on_ended(const Life& life) override;
  void on_log(const Life& by, Severity severity, std::string_view event,
              std::initializer_list<LogField> fields) override;
  void check_accepted(const HttpRequest& request, const HttpResponse& response);
  void add_operator(Simulation& simulation);

  Simulation* simulation_ = nullptr;
  std::deque<CellOperator> operators_;
  std::map<Ulid, LogSeq> accepted_;  // by attempt: the position that its receiver has promised
  std::map<uint64_t, ProcessId> under_way_;  // changes, by call: who was asked
  std::set<ProcessId> ending_;               // processes whose incarnation has begun to end
  invariants::CellAnswers answers_;
  bool all_open_ = false;  // no manifest is sealed any more
};

}  // namespace morula::sim
