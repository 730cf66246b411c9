// tla/Lease.tla, executable: the read lease of one incarnation, its member document, one watcher,
// and clocks that drift. See ownership_log.hpp for how to use it.
#pragma once

#include <climits>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>

#include "core/base/result.hpp"
#include "invariants/spec/model_config.hpp"
#include "invariants/spec/values.hpp"

namespace morula::spec {

// action in the spec, function here, what happens
#define MORULA_LEASE_ACTIONS(X)                                                    \
  X(Tick, tick, "time passes on both clocks")                                      \
  X(RenewLease, renew_lease, "the holder sends a renewal")                         \
  X(Repeat, repeat, "mutant repeatAge: it repeats one, whose age then begins new") \
  X(Stop, stop, "the holder stops cleanly, and sends that it did")                 \
  X(Land, land, "a request of the holder's lands")                                 \
  X(Hear, hear, "the holder hears that a renewal landed")                          \
  X(LoseLease, lose_lease, "the holder finds its document expired")                \
  X(Check, check, "mutant checkCached: it looks at its lease ahead of a read")     \
  X(ReadSend, read_send, "the watcher asks for the document")                      \
  X(ReadAt, read_at, "the moment at which it is read")                             \
  X(ReadAnswer, read_answer, "the answer: a new version starts the watch")         \
  X(Expire, expire, "the watcher sends the CAS to expired")                        \
  X(LandExpire, land_expire, "it lands")                                           \
  X(AcknowledgeElsewhere, acknowledge_elsewhere, "another owner acknowledges a write")

// What Mut may name; tla/expected.json says what each breaks.
#define MORULA_LEASE_SWITCHES(X) \
  X(expireNoCas)                 \
  X(expireLatest)                \
  X(watchFromSend)               \
  X(wallClock)                   \
  X(leaseFromAnswer)             \
  X(repeatAge)                   \
  X(revive)                      \
  X(stopLate)                    \
  X(checkCached)                 \
  X(capLate)                     \
  X(lengthenEarly)               \
  X(watchShortest)

/// A CAS of the holder's, until its answer is heard.
struct LeaseRequest {
  int id = 0;
  int base = 0;
  int length = 0;  // of the lease that it asks for
  int age = 0;     // since it was first sent, by the holder's clock
  bool stop = false;
  bool landed = false;
  static constexpr auto kFields =
      std::tuple(&LeaseRequest::id, &LeaseRequest::base, &LeaseRequest::length, &LeaseRequest::age,
                 &LeaseRequest::stop, &LeaseRequest::landed);
  auto operator<=>(const LeaseRequest&) const = default;
};

struct LeaseState {
  enum class Document : uint8_t { kLive, kExpired, kStopped };
  enum class Reading : uint8_t { kIdle, kSent, kRead };
  int version = 0;
  Document document = Document::kLive;
  int document_length = 0;  // the lease length in it
  Set<LeaseRequest> pending;
  int requests = 0;
  int known_version = 0;  // that the holder knows as its own last one
  int lease_age = 0;      // of the renewal that the lease counts from, by the holder's clock
  int lease_length = 0;   // that it counts with
  bool serving = true;
  bool checked = false;  // mutant checkCached
  int seen = -1;         // the version that is watched, or -1
  int seen_length = 0;   // the lease length in it
  int watched = 0;       // how long, by the watcher's clock
  Reading reading = Reading::kIdle;
  int read_version = 0;
  int read_length = 0;
  int read_age = 0;
  Set<int> expiring;  // base versions
  bool acknowledged_elsewhere = false;
  static constexpr auto kFields = std::tuple(
      &LeaseState::version, &LeaseState::document, &LeaseState::document_length,
      &LeaseState::pending, &LeaseState::requests, &LeaseState::known_version,
      &LeaseState::lease_age, &LeaseState::lease_length, &LeaseState::serving, &LeaseState::checked,
      &LeaseState::seen, &LeaseState::seen_length, &LeaseState::watched, &LeaseState::reading,
      &LeaseState::read_version, &LeaseState::read_length, &LeaseState::read_age,
      &LeaseState::expiring, &LeaseState::acknowledged_elsewhere);
  bool operator==(const LeaseState&) const = default;
};

class Lease {
 public:
  using State = LeaseState;

  enum class Action : uint8_t {
#define MORULA_ACTION_ENUM(name, function, what) k##name,
    MORULA_LEASE_ACTIONS(MORULA_ACTION_ENUM)
#undef MORULA_ACTION_ENUM
  };

  enum class Switch : uint8_t {
#define MORULA_SWITCH_ENUM(name) name,
    MORULA_LEASE_SWITCHES(MORULA_SWITCH_ENUM)
#undef MORULA_SWITCH_ENUM
  };

  struct Step {
    Action action;
    int holder = 0;   // Tick: by how much its clock goes on
    int watcher = 0;  // Tick: the watcher's
    int length = 0;   // RenewLease: of the lease that it asks for
    int request = 0;  // Land, Hear, Repeat: which, in the state's order
  };

  struct Constants {
    Set<int> lengths;  // that a renewal may ask for
    int margin = 0;
    Set<int> rates;  // 10 * the holder's clock + the watcher's, of a tick
    int max_requests = INT_MAX;
    int skew = 0;
    uint64_t switches = 0;  // bit n: the n-th Switch
  };

  explicit Lease(Constants constants) : c_(std::move(constants)) {}
  /// kInvalid: the configuration is not one of this spec.
  static Result<Lease> configured(const ModelConfig& config);

  State initial() const;
  bool can(const State& now, const Step& step) const { return apply(now, step, nullptr); }
  /// Requires `can(now, step)`. `after` is a copy of `now`; becomes the state after the step.
  void take(const State& now, const Step& step, State& after) const { apply(now, step, &after); }
  /// Calls with every step that can be taken in `now`, and some that can not.
  void each_step(const State& now, const std::function<void(const Step&)>& call) const;
  /// Whether the invariant of this name (R), or what is to be reached and so must be violated
  /// (Never...), holds.
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
  MORULA_LEASE_ACTIONS(MORULA_ACTION_FUNCTION)
#undef MORULA_ACTION_FUNCTION

  bool on(Switch which) const { return (c_.switches >> static_cast<int>(which) & 1) != 0; }

  int longest() const { return c_.lengths.highest(); }
  bool lease_holds(const State& s) const { return s.lease_age < s.lease_length - c_.margin; }
  bool can_answer(const State& s) const {
    return s.serving && (on(Switch::checkCached) ? s.checked : lease_holds(s));
  }
  bool watched_long_enough(const State& s) const {
    return s.seen != -1 &&
           s.watched >=
               (on(Switch::watchShortest) ? c_.lengths.lowest() : s.seen_length) + c_.margin;
  }

  Constants c_;
};

}  // namespace morula::spec
