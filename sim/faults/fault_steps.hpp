// Which faults have met which steps of the protocol, in the process that takes the step.
//
// What a fault does depends on what the process was doing. That a sweep has had crashes, and has
// had seals, does not say that anybody ever died with a manifest sealed and nothing published. So
// pairs are counted, and a sweep can require them. A pair (fault, step) is reached
//
//   by a fault of a process     when it strikes one that has taken the step in the same run, at
//                               most `kShortly` before: what was to follow has not, or only begun
//   by a fault of a request     when the request was on its way to the step: the step is the next
//                               one of the same run that comes of requests for that purpose. A put
//                               of the log is also on behalf of the PutLog that has sent it
//
// A fault that lies in wait (crash_at_step, pause_at_request, ...) is what it does, a crash or a
// pause; a pause is pause_long if it lasts for longer than the lease, else pause_short.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/step.hpp"
#include "sim/faults/fault.hpp"
#include "sim/world/observer.hpp"
#include "sim/world/world.hpp"

namespace morula::sim {

inline constexpr size_t kStepCount = static_cast<size_t>(Step::kLoseLease) + 1;
inline constexpr Duration kShortly = std::chrono::milliseconds(100);

/// Those that are counted by step, in the order of tables.
inline constexpr Fault kPairedFaults[] = {Fault::crash,
                                          Fault::stop,
                                          Fault::pause_short,
                                          Fault::pause_long,
                                          Fault::store_request_lost,
                                          Fault::store_answer_lost,
                                          Fault::store_late,
                                          Fault::store_again,
                                          Fault::store_conflict,
                                          Fault::store_error,
                                          Fault::store_error_applied,
                                          Fault::store_throttled,
                                          Fault::store_slow};

/// What the requests are for that the step comes of; nothing for a step that is taken in memory.
std::optional<Purpose> purpose_of(Step step);

/// Whether 2,000 seeds of the default scenario have to reach the pair. Those that are required come
/// nine times or more in as many seeds, so that their absence is no bad luck.
bool is_required(Fault fault, Step step);

/// "crash/Seal"
std::string pair_name(Fault fault, Step step);

/// Of one world, which outlives it.
class FaultSteps final : public Observer {
 public:
  explicit FaultSteps(World& world);

  /// A fault of a process, of whatever kind lies in wait: crash, stop, pause_short or pause_long.
  /// Called before it strikes.
  void strikes(Fault fault, ProcessId process);
  /// A fault of a request, when it is sent.
  void befalls(Fault fault, const StoreRequest& request);

  /// How often each pair was reached, by name; those that were.
  std::map<std::string, uint64_t> pairs() const;

 private:
  struct Pending {
    Fault fault;
    Purpose purpose;
  };
  /// What one process has done and suffered in its present run.
  struct Run {
    std::array<std::optional<TrueTime>, kStepCount> taken;
    std::vector<Pending> pending;
  };

  void on_step(const Life& by, const StepEvent& event) override;
  void on_started(const Life& life) override { runs_[life.process] = {}; }
  void reach(Fault fault, Step step);

  World& world_;
  std::map<ProcessId, Run> runs_;
  std::array<std::array<uint64_t, kStepCount>, kFaults> reached_{};
};

}  // namespace morula::sim
