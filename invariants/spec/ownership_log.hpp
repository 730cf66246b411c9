// tla/OwnershipLog.tla, executable: the ownership protocol over pipelined logs.
//
// The actions, their guards and their effects are those of the spec, under the same names; the two
// are kept equal by counting the states of every configuration with both. An action's parameters
// are given by name, so that one can ask about an event that was seen:
//
//   twin.can(state, {.action = OwnershipLog::Action::kFlush, .incarnation = 1, .shard = 2})
#pragma once

#include <climits>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "invariants/spec/model_config.hpp"
#include "invariants/spec/ownership_log_state.hpp"

namespace morula::spec {

// action in the spec, function here, what happens
#define MORULA_OWNERSHIP_LOG_ACTIONS(X)                                                    \
  X(PutLog, put_log, "an owner sends a record in its next batch")                          \
  X(LandLog, land_log, "a batch lands, perhaps late, perhaps again")                       \
  X(Flush, flush, "an owner sends the manifest CAS of a flush")                            \
  X(LandManifest, land_manifest, "it lands")                                               \
  X(Trim, trim, "an owner deletes its lowest log object")                                  \
  X(TrimNote, trim_note, "trim in steps: position and pins")                               \
  X(TrimReadTopology, trim_read_topology, "trim in steps: the topology")                   \
  X(TrimReadManifests, trim_read_manifests, "trim in steps: the manifests")                \
  X(TrimDelete, trim_delete, "trim in steps: a delete")                                    \
  X(TrimEnd, trim_end, "trim in steps: done")                                              \
  X(TakeOver, take_over, "a taker lists a log, and chooses where to fence it")             \
  X(CollectorFence, collector_fence, "a collector does, of an incarnation that is over")   \
  X(Stop, stop, "an incarnation stops cleanly")                                            \
  X(LandStopFence, land_stop_fence, "its own fence lands")                                 \
  X(FenceAgain, fence_again, "the log is listed again, after a fence that does not count") \
  X(FencePut, fence_put, "the fence is put, if nothing lies there")                        \
  X(Fence, fence, "the second list: does it count?")                                       \
  X(TakeRead, take_read, "the taker reads the topology, and chooses shards")               \
  X(Seal, seal, "a manifest of theirs is sealed")                                          \
  X(Adopt, adopt, "new manifests lie in the bucket, and the topology CAS is sent")         \
  X(Publish, publish, "a topology CAS lands; all others on its base are void")             \
  X(Replay, replay, "an incarnation that the topology names serves")                       \
  X(HandAsk, hand_ask, "a giver reads the topology and asks a receiver")                   \
  X(Accept, accept, "the receiver pins where its entry will begin")                        \
  X(HandSeal, hand_seal, "the giver seals the manifest, and goes on appending")            \
  X(HandStop, hand_stop, "the giver stops serving")                                        \
  X(HandOff, hand_off, "all it sent has landed: the new manifest, and the topology CAS")   \
  X(HandAbort, hand_abort, "the giver gives the attempt up")                               \
  X(HandResume, hand_resume, "mutant resumeNoCompare: it serves again without a look")     \
  X(Reopen, reopen, "an owner sends the CAS to an unsealed copy of its manifest")          \
  X(CollectJudge, collect_judge, "a collector judges a fence")                             \
  X(CollectReadTopology, collect_read_topology, "it reads the topology")                   \
  X(CollectReadManifests, collect_read_manifests, "and the manifests")                     \
  X(Collect, collect, "it deletes a log object")                                           \
  X(CollectEnd, collect_end, "it is done")

enum class OwnershipLogAction : uint8_t {
#define MORULA_ACTION_ENUM(name, function, what) k##name,
  MORULA_OWNERSHIP_LOG_ACTIONS(MORULA_ACTION_ENUM)
#undef MORULA_ACTION_ENUM
};

// What Mut may name; tla/expected.json says what each breaks.
#define MORULA_OWNERSHIP_LOG_SWITCHES(X) \
  X(ackOutOfOrder)                       \
  X(windowByCount)                       \
  X(trimEarly)                           \
  X(trimPinsLast)                        \
  X(trimNoCap)                           \
  X(noSecondList)                        \
  X(noSeal)                              \
  X(sealFirst)                           \
  X(sealOne)                             \
  X(takeRebase)                          \
  X(qBeforePin)                          \
  X(ownTooHigh)                          \
  X(ownTooLow)                           \
  X(noTopoCheck)                         \
  X(stopNoWait)                          \
  X(noPromise)                           \
  X(askAgain)                            \
  X(handRebase)                          \
  X(handNoStop)                          \
  X(handNoWait)                          \
  X(handNoSeal)                          \
  X(resumeEarly)                         \
  X(resumeNoCompare)                     \
  X(gcFence)                             \
  X(d_firstGap)                          \
  X(d_noPin)                             \
  X(d_posAcked)                          \
  X(d_gcOrder)                           \
  X(d_gcOwner)                           \
  X(d_anyFence)                          \
  X(d_gcOneFence)                        \
  X(v_trimSteps)

enum class OwnershipLogSwitch : uint8_t {
#define MORULA_SWITCH_ENUM(name) name,
  MORULA_OWNERSHIP_LOG_SWITCHES(MORULA_SWITCH_ENUM)
#undef MORULA_SWITCH_ENUM
};

/// Without bounds, but for those of the shards and incarnations, unless told otherwise.
struct OwnershipLogConstants {
  int incarnations = 0;
  int shards = 0;
  std::vector<int> first_owners;  // by shard - 1
  int window = 0;
  int keep = 0;
  int max_seq = INT_MAX;
  int max_records = INT_MAX;
  int max_takeovers = INT_MAX;
  int max_handoffs = INT_MAX;
  int max_flushes = INT_MAX;
  int max_collections = INT_MAX;
  int max_fences = INT_MAX;
  int max_reopens = INT_MAX;
  Set<int> takers;
  bool land_again = false;  // a batch may land again after it was deleted
  uint64_t switches = 0;    // bit n: the n-th Switch
};

class OwnershipLog {
 public:
  using State = OwnershipLogState;

  using Action = OwnershipLogAction;
  using Switch = OwnershipLogSwitch;

  struct Step {
    Action action;
    int incarnation = 0;  // who does it; for LandLog, LandStopFence and Collect: whose log
    int other = 0;        // TakeOver, CollectorFence: the one fenced. HandAsk: the receiver
    int shard = 0;
    int seq = 0;        // LandLog, Collect
    int position = 0;   // where the fence goes; where the own entry begins; the fence judged
    int request = 0;    // LandManifest, Publish: which of those that can land, in the state's order
    Set<int> shards{};  // TakeRead: those chosen. TakeOver with sealFirst: those sealed
  };

  using Constants = OwnershipLogConstants;

  explicit OwnershipLog(Constants constants) : c_(std::move(constants)) {}
  /// kInvalid: the configuration is not one of this spec.
  static Result<OwnershipLog> configured(const ModelConfig& config);

  State initial() const;
  bool can(const State& now, const Step& step) const { return apply(now, step, nullptr); }
  /// Requires `can(now, step)`. `after` is a copy of `now`; becomes the state after the step.
  void take(const State& now, const Step& step, State& after) const { apply(now, step, &after); }
  /// Calls with every step that can be taken in `now`, and some that can not.
  void each_step(const State& now, const std::function<void(const Step&)>& call) const;
  /// Whether the invariant of this name (D, X, U, F, S), or what is to be reached and so must be
  /// violated (Never...), holds.
  bool holds(std::string_view invariant, const State& state) const;
  static bool has_invariant(std::string_view name);

  /// "Flush incarnation=1 shard=2"
  static std::string describe(const Step& step);

  /// Names of the actions, and what Mut may name.
  static std::span<const std::string_view> actions();
  static std::span<const std::string_view> switches();

 private:
  bool apply(const State& now, const Step& step, State* after) const;
#define MORULA_ACTION_FUNCTION(name, function, what) \
  bool function(const State& now, const Step& step, State* after) const;
  MORULA_OWNERSHIP_LOG_ACTIONS(MORULA_ACTION_FUNCTION)
#undef MORULA_ACTION_FUNCTION

  bool on(Switch which) const { return (c_.switches >> static_cast<int>(which) & 1) != 0; }

  // Definitions of the spec.
  Set<BatchId> log_records(const State& s, const LogManifest& m, int shard) const;
  int tail_position(const LogIncarnation& i) const;
  int first_gap(const LogIncarnation& i) const;
  bool nothing_beyond(const LogIncarnation& i, int fence) const;
  bool counts(const LogIncarnation& i, int fence) const;
  Set<int> fence_positions(const LogIncarnation& i) const;
  Set<int> own_positions(const State& s, int incarnation) const;
  Set<int> pins(const State& s, int incarnation) const;
  int trim_bound(const State& s, int incarnation) const;
  int trim_candidate(const State& s, int incarnation, int bound) const;
  Set<int> owned_by(const State& s, int incarnation) const;
  /// The highest that a batch or fence of the incarnation can have, now that a fence counts.
  int last_position(const LogIncarnation& i) const;
  bool acknowledged(const LogIncarnation& i, int seq) const;
  int batches_sent(const State& s) const;
  bool waits_for_topology(const State& s, int incarnation, int shard) const;

  // Invariants.
  bool nothing_lost(const State& s) const;
  bool nothing_dangling(const State& s) const;
  bool offsets_unique(const State& s) const;
  bool one_server(const State& s) const;
  bool fences_count(const State& s) const;
  // What is to be reached: true until it is.
  bool never_moved(const State& s, int times) const;
  bool never_taken_over(const State& s) const { return never_moved(s, s.counts.takeovers); }
  bool never_handed_off(const State& s) const { return never_moved(s, s.counts.handoffs); }
  bool never_trimmed(const State& s) const;
  bool never_collected(const State& s) const;
  bool never_two_fences(const State& s) const;
  struct NamedInvariant;
  static const std::vector<NamedInvariant>& invariants();

  void each_owner_step(const State& now, const std::function<void(const Step&)>& call) const;
  void each_taker_step(const State& now, const std::function<void(const Step&)>& call) const;
  void each_collector_step(const State& now, const std::function<void(const Step&)>& call) const;

  Constants c_;
};

}  // namespace morula::spec
