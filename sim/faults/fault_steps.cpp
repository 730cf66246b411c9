#include "sim/faults/fault_steps.hpp"

#include <algorithm>
#include <iterator>

namespace morula::sim {

namespace {

// An operation whose request was hit may never come to its end; what it waits for is forgotten.
constexpr size_t kPendingMax = 32;

}  // namespace

std::optional<Purpose> purpose_of(Step step) {
  switch (step) {
    case Step::kAppend:
    case Step::kPutLog:
    case Step::kAccept:
      return std::nullopt;
    case Step::kAcknowledge:
    case Step::kFenced:
      return Purpose::kLog;
    case Step::kFlush:
      return Purpose::kFlush;
    case Step::kCompact:
      return Purpose::kCompaction;
    case Step::kTrim:
      return Purpose::kTrim;
    case Step::kCollect:
      return Purpose::kGc;
    case Step::kFence:
    case Step::kSeal:
    case Step::kAdopt:
    case Step::kPublish:
    case Step::kHandOff:
    case Step::kSplit:
    case Step::kMerge:
    case Step::kReopen:
    case Step::kReplay:
      return Purpose::kOwnership;
    case Step::kRenewLease:
    case Step::kExpire:
    case Step::kLoseLease:
      return Purpose::kHeartbeat;
  }
  return std::nullopt;
}

bool is_required(Fault fault, Step step) {
  // Only where a change of the topology has failed for good: seldom, and seldom near a fault.
  if (step == Step::kReopen) return false;
  const bool of_request = purpose_of(step) || step == Step::kPutLog;
  switch (fault) {
    case Fault::crash:
    case Fault::pause_long:
      // With these an incarnation ends anyway; what is left of it has nothing more to do.
      return step != Step::kFenced && step != Step::kLoseLease;
    case Fault::store_request_lost:
    case Fault::store_answer_lost:
      return of_request;
    case Fault::store_late:
      return of_request && step != Step::kReplay;  // which only reads: nothing lands
    default:
      return false;  // they add to the table, but do nothing that those above don't
  }
}

std::string pair_name(Fault fault, Step step) {
  return std::string(kFaultNames[static_cast<size_t>(fault)]) + "/" + std::string(to_string(step));
}

FaultSteps::FaultSteps(World& world) : world_(world) {
  world_.trace().add_observer(*this);
}

void FaultSteps::reach(Fault fault, Step step) {
  ++reached_[static_cast<size_t>(fault)][static_cast<size_t>(step)];
}

void FaultSteps::strikes(Fault fault, ProcessId process) {
  const Run& run = runs_[process];
  for (size_t i = 0; i < kStepCount; ++i) {
    const auto& taken = run.taken[i];
    if (taken && world_.now() - *taken <= kShortly) reach(fault, static_cast<Step>(i));
  }
}

void FaultSteps::befalls(Fault fault, const StoreRequest& request) {
  std::vector<Pending>& pending = runs_[request.process].pending;
  if (pending.size() == kPendingMax) pending.erase(pending.begin());
  pending.push_back({fault, request.purpose});
  if (request.purpose == Purpose::kLog && request.call == StoreCall::kPut) {
    reach(fault, Step::kPutLog);
  }
}

void FaultSteps::on_step(const Life& by, const StepEvent& event) {
  Run& run = runs_[by.process];
  run.taken[static_cast<size_t>(event.step)] = world_.now();
  const auto purpose = purpose_of(event.step);
  if (!purpose || run.pending.empty()) return;
  std::erase_if(run.pending, [&](const Pending& pending) {
    if (pending.purpose != *purpose) return false;
    reach(pending.fault, event.step);
    return true;
  });
}

std::map<std::string, uint64_t> FaultSteps::pairs() const {
  std::map<std::string, uint64_t> named;
  for (const Fault fault : kPairedFaults) {
    for (size_t i = 0; i < kStepCount; ++i) {
      const uint64_t count = reached_[static_cast<size_t>(fault)][i];
      if (count > 0) named.emplace(pair_name(fault, static_cast<Step>(i)), count);
    }
  }
  return named;
}

}  // namespace morula::sim
