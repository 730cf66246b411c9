// Spells during which some requests of some processes to the store fare badly: those for one
// purpose are lost, those of one kind are slow. What breaks a protocol is seldom that everything
// fails; it is that one kind of request fails while the others go through.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/rt/random.hpp"
#include "sim/faults/fault.hpp"
#include "sim/world/sim_store.hpp"

namespace morula::sim {

struct Plan;

class StoreEpisodes {
 public:
  enum class Effect : uint8_t {
    kLost,     // never lands
    kUnheard,  // lands, and is not answered
    kSlow,     // lands `delay` later
    kSlowBack  // is answered `delay` later
  };
  /// Which requests it strikes, when and how. Nothing: any.
  struct Episode {
    TrueTime from;
    TrueTime until;
    std::optional<ProcessId> process;
    std::optional<ProcessId> but_process;
    std::optional<Purpose> purpose;
    std::optional<StoreCall> call;
    Effect effect = Effect::kLost;
    Duration delay{};
  };

  /// Draws the episodes of `fault`, one of store_purpose_cut, store_kind_slow, lease_stutter,
  /// stale_watch, blind_writer and trim_slow, against `victim`, from `now` on.
  void strike(Fault fault, ProcessId victim, const Plan& plan, TrueTime now, Random& random);
  void begin(const Episode& episode) { episodes_.push_back(episode); }
  /// A process has renewed its lease, as far as it knows.
  void renewed(ProcessId process, TrueTime now);
  void apply(const StoreRequest& request, TrueTime now, StoreFate& fate);
  void clear() {
    episodes_.clear();
    last_renewals_.clear();
  }

 private:
  void cut_purpose(ProcessId victim, const Plan& plan, TrueTime now, Random& random);
  void slow_kind(const Plan& plan, TrueTime now, Random& random);
  void stutter(ProcessId victim, const Plan& plan, TrueTime now, Random& random);
  void stale_watch(ProcessId victim, const Plan& plan, TrueTime now, Random& random);
  void slow_trim(const Plan& plan, TrueTime now, Random& random);
  void blind_writer(ProcessId victim, const Plan& plan, TrueTime now, Random& random);

  /// After its next renewal from `from` on, nothing of a process gets through.
  struct LastRenewal {
    ProcessId process;
    TrueTime from;
    Duration cut;
    std::optional<Purpose> purpose;  // nothing: of any purpose
  };
  void arm_last_renewal(ProcessId victim, const Plan& plan, TrueTime from, Random& random);

  std::vector<Episode> episodes_;
  std::vector<LastRenewal> last_renewals_;
};

}  // namespace morula::sim
