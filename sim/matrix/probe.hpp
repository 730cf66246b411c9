// Watches an operation from its beginning to its end, counts the store requests and the suspension
// points of the process that carries it out, and strikes at one of them.
//
// The points are counted alike whether something strikes or not, and a world is the same up to
// there, so the n-th point of a case is the n-th that was counted before.
//
// An operation begins
//   split, merge, move   when the owner of the shard is asked for it
//   accept               when the receiver is first asked to prepare for the shard
//   takeover             with the sending of the CAS that sets the dead owner to expired
//   flush, compaction    with the first store request for one after the end of the last
//   collection           when it lists the logs
//   trim                 with the first store request for one after a while
// and ends with the step that MORULA_OPERATIONS names: split, merge and move when they are
// answered; accept and takeover when the first shard is served. All requests and suspension points
// of the process in between count, also those of what goes on beside the operation.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "core/base/prefix.hpp"
#include "core/rt/random.hpp"
#include "sim/matrix/matrix_case.hpp"
#include "sim/matrix/shard_operator.hpp"
#include "sim/scenario/workload.hpp"
#include "sim/world/observer.hpp"
#include "sim/world/sim_clock.hpp"
#include "sim/world/sim_store.hpp"

namespace morula::sim {

class InstanceHost;
class Simulation;

class Probe final : public Workload, private Observer {
 public:
  explicit Probe(const MatrixCase& which) : case_(which) {}

  std::string_view name() const override { return "probe"; }
  void setup(Simulation& simulation) override;
  void heal(Simulation& simulation) override;
  std::string awaited(Simulation& simulation) override;

  uint32_t requests() const { return requests_; }
  uint32_t switches() const { return switches_; }
  bool ended() const { return ended_; }
  bool struck() const { return struck_; }
  bool met() const { return met_; }

 private:
  void on_step(const Life& by, const StepEvent& event) override;
  void on_log(const Life& by, Severity severity, std::string_view event,
              std::initializer_list<LogField> fields) override;
  void on_store_changed(const StoreRequest& request, std::string_view key,
                        const Blob& body) override;
  void on_call_arrived(ProcessId at, uint64_t number, const HttpRequest& request) override;
  void on_call_answered(ProcessId at, uint64_t number, const HttpRequest& request,
                        const HttpResponse* response) override;

  void begin_operation();
  void ask_for(Operation operation, uint32_t machine);
  CellStep step_of(Operation operation) const;
  InstanceHost& owner_of(Prefix prefix) const;
  bool begins(const StoreRequest& request);
  void begin(ProcessId victim);
  void end();

  StoreFate fate_of(const StoreRequest& request);
  void strike_request(const StoreRequest& request, StoreFate& fate);
  void hold_back(const StoreRequest& request, StoreFate& fate);
  void befall_held(const StoreRequest& request, StoreFate& fate) const;
  void after_switch(const void* domain);
  void strike();
  void crash();
  void pause();
  void wake();
  void meet();
  void look_whether_over();

  bool counts() const { return begun_ && !ended_ && !struck_; }
  InstanceHost& victim() const;
  TrueTime now() const;
  Duration lease() const;
  template <class Action>
  void later(Duration delay, Action action);
  /// The active phase goes on until `delay` from now, and some time beyond.
  void await(Duration delay);

  const MatrixCase case_;
  Simulation* simulation_ = nullptr;
  std::optional<Random> random_;             // latencies
  Prefix target_;                            // of splits and moves
  std::map<ProcessId, bool> under_way_;      // flushes or compactions, by what was seen of them
  std::map<ProcessId, TrueTime> last_trim_;  // when a request of one was sent
  std::string dead_document_;  // key of the member document of whom the takeover is from
  invariants::CellAnswers answers_;
  std::deque<ShardOperator> operators_;

  bool armed_ = false;  // the operation may begin
  bool begun_ = false;
  bool ended_ = false;
  bool struck_ = false;
  bool strikes_now_ = false;  // as soon as the fiber that runs has suspended
  bool asleep_ = false;       // the victim, until it has been woken
  bool healed_ = false;
  bool met_ = false;
  ProcessId victim_ = 0;
  uint64_t call_ = 0;  // that asked for it
  uint32_t requests_ = 0;
  uint32_t switches_ = 0;
  TrueTime over_at_{};

  struct Held {
    ProcessId process;
    std::string key;
    TrueTime until;
  };
  std::optional<Held> held_;
  bool blind_ = false;  // while it is held, the process does not renew its lease
};

}  // namespace morula::sim
