// tla/Topology.tla, executable: manifests and topology over a hash space; split, merge, takeover
// and handoff, tables with tombstones, trim and collection. See ownership_log.hpp for how to use
// it.
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
#include "invariants/spec/topology_state.hpp"

namespace morula::spec {

// action in the spec, function here, what happens
#define MORULA_TOPOLOGY_ACTIONS(X)                                                          \
  X(Acknowledge, acknowledge, "an owner has logged a put or a delete")                      \
  X(Flush, flush, "an owner has a table of all logged rows, and sends the manifest CAS")    \
  X(Compact, compact, "an owner has merged some tables, and sends the manifest CAS")        \
  X(LandManifest, land_manifest, "it lands")                                                \
  X(Trim, trim, "an owner deletes what lies below every use of its log")                    \
  X(Fence, fence, "somebody fences a log")                                                  \
  X(Adopt, adopt, "a taker has sealed and adopted a shard, and sends the topology CAS")     \
  X(AdoptBoth, adopt_both, "the same of both shards by one CAS")                            \
  X(Publish, publish, "a topology CAS lands; all others on its base are void")              \
  X(Replay, replay, "an incarnation reads the topology, and serves what it names it for")   \
  X(Accept, accept, "a receiver pins where its entry begins; the giver seals the manifest") \
  X(HandOff, hand_off, "the giver stops serving, and sends the topology CAS")               \
  X(HandAbort, hand_abort, "the giver gives the attempt up")                                \
  X(Split, split, "an owner sends the topology CAS to two children")                        \
  X(Merge, merge, "an owner of both siblings sends the topology CAS to their parent")       \
  X(Reopen, reopen, "an owner sends the CAS to an unsealed copy of its manifest")           \
  X(CollectList, collect_list, "a collector lists tables, fences and floors")               \
  X(CollectReadTopology, collect_read_topology, "it reads the topology")                    \
  X(CollectReadManifests, collect_read_manifests, "and the manifests")                      \
  X(Collect, collect, "it deletes what nothing names")

enum class TopologyAction : uint8_t {
#define MORULA_ACTION_ENUM(name, function, what) k##name,
  MORULA_TOPOLOGY_ACTIONS(MORULA_ACTION_ENUM)
#undef MORULA_ACTION_ENUM
};

// What Mut may name; tla/expected.json says what each breaks.
#define MORULA_TOPOLOGY_SWITCHES(X) \
  X(noSeal)                         \
  X(handNoSeal)                     \
  X(splitNoHold)                    \
  X(mergeNoSeal)                    \
  X(mergeNoClipSst)                 \
  X(mergeNoClipLog)                 \
  X(noTopoCheck)                    \
  X(noPromise)                      \
  X(resumeEarly)                    \
  X(rowNoOwner)                     \
  X(rowStale)                       \
  X(trimOwnOnly)                    \
  X(trimByName)                     \
  X(gcNoFloor)                      \
  X(compactPart)                    \
  X(compactNoLog)                   \
  X(markNotRaised)                  \
  X(changeOnly)                     \
  X(d_noPin)                        \
  X(d_noHighWater)                  \
  X(d_splitNoSeal)                  \
  X(d_gcListLate)                   \
  X(d_gcOwner)                      \
  X(v_takeBoth)

enum class TopologySwitch : uint8_t {
#define MORULA_SWITCH_ENUM(name) name,
  MORULA_TOPOLOGY_SWITCHES(MORULA_SWITCH_ENUM)
#undef MORULA_SWITCH_ENUM
};

/// Without bounds, but for those of the shards and incarnations, unless told otherwise.
struct TopologyConstants {
  int incarnations = 0;
  int space_bits = 1;  // points are the numbers of so many bits
  bool starts_split = false;
  int root_owner = 0;
  int left_owner = 0;
  int right_owner = 0;
  Set<int> written;  // points
  int max_seq = INT_MAX;
  int max_records = INT_MAX;
  int max_takeovers = INT_MAX;
  int max_handoffs = INT_MAX;
  int max_splits = INT_MAX;
  int max_merges = INT_MAX;
  int max_reopens = INT_MAX;
  int max_flushes = INT_MAX;
  int max_compactions = INT_MAX;
  int max_collections = INT_MAX;
  uint64_t switches = 0;  // bit n: the n-th Switch
};

class Topology {
 public:
  using State = TopologyState;

  using Action = TopologyAction;
  using Switch = TopologySwitch;

  struct Step {
    Action action;
    int incarnation = 0;         // who does it; for Fence: whose log. Accept: the giver
    int other = 0;               // Accept: the receiver
    HashPrefix prefix{};         // the shard; for Merge: the parent
    int point = 0;               // Acknowledge
    bool deleted = false;        // Acknowledge
    int request = 0;             // LandManifest, Publish: which, in the state's order
    Set<ClippedTable> tables{};  // Compact: those merged
  };

  using Constants = TopologyConstants;

  explicit Topology(Constants constants) : c_(std::move(constants)) {}
  /// kInvalid: the configuration is not one of this spec.
  static Result<Topology> configured(const ModelConfig& config);

  State initial() const;
  bool can(const State& now, const Step& step) const { return apply(now, step, nullptr); }
  /// Requires `can(now, step)`. `after` is a copy of `now`; becomes the state after the step.
  void take(const State& now, const Step& step, State& after) const { apply(now, step, &after); }
  /// Calls with every step that can be taken in `now`, and some that can not.
  void each_step(const State& now, const std::function<void(const Step&)>& call) const;
  /// Whether the invariant of this name (P, D, X, U, M, N), or what is to be reached and so must be
  /// violated (Never...), holds.
  bool holds(std::string_view invariant, const State& state) const;
  static bool has_invariant(std::string_view name);

  static std::string describe(const Step& step);

  /// Names of the actions, and what Mut may name.
  static std::span<const std::string_view> actions();
  static std::span<const std::string_view> switches();

 private:
  bool apply(const State& now, const Step& step, State* after) const;
#define MORULA_ACTION_FUNCTION(name, function, what) \
  bool function(const State& now, const Step& step, State* after) const;
  MORULA_TOPOLOGY_ACTIONS(MORULA_ACTION_FUNCTION)
#undef MORULA_ACTION_FUNCTION

  bool on(Switch which) const { return (c_.switches >> static_cast<int>(which) & 1) != 0; }

  // Definitions of the spec.
  HashPrefix at(int point) const { return {c_.space_bits, point}; }
  int points() const { return 1 << c_.space_bits; }
  bool serves_point(const State& s, int incarnation, int point) const;
  Set<BatchId> log_records(const State& s, const ClippedManifest& m, int point) const;
  Set<BatchId> table_records(const State& s, const Set<ClippedTable>& tables, int point) const;
  Set<BatchId> reachable(const State& s, int point) const;
  RowOffset rank(const State& s, const BatchId& id) const;
  RowOffset recovered(const State& s, const ClippedManifest& m, int point) const;
  Set<int> row_logs(const State& s, const Set<ClippedEntry>& logs, int owner,
                    const Set<HashPrefix>& replaced) const;
  bool holds_structure(const State& s, int incarnation, const HashPrefix& prefix) const;
  ClippedManifest narrowed(const ClippedManifest& m, const HashPrefix& prefix) const;
  int trim_bound(const State& s, int incarnation) const;
  int upload_floor(const State& s, int writer) const;
  void adopt_into(const State& now, State& after, int taker, const Set<HashPrefix>& shards) const;
  bool is_partition(const State& s) const;

  // Invariants.
  bool nothing_lost(const State& s) const;
  bool nothing_returns(const State& s) const;
  bool nothing_dangling(const State& s) const;
  bool rows_name_logs(const State& s) const;
  bool offsets_unique(const State& s) const;
  // What is to be reached: true until it is.
  bool never_merged(const State& s) const;
  bool never_apart(const State& s) const;
  bool never_marked(const State& s) const;
  bool never_collected(const State& s) const;
  struct NamedInvariant;
  static const std::vector<NamedInvariant>& invariants();

  void each_transfer_step(const State& now, const std::function<void(const Step&)>& call) const;

  Constants c_;
};

}  // namespace morula::spec
