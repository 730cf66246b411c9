// Everything that the invariants see of a world, and their verdict.
//
// Whoever runs the world (the simulator, or a reader of production traces) tells this object what
// happens, at the moment it happens; it hands that to the checkers, each a file of its own. The
// calls come in the world's true order. None of them may be made twice for one event.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/rt/store.hpp"
#include "core/rt/trace.hpp"
#include "invariants/acknowledgements.hpp"
#include "invariants/adoption_rules.hpp"
#include "invariants/append_path.hpp"
#include "invariants/decoded_documents.hpp"
#include "invariants/durable_records.hpp"
#include "invariants/fencing_rules.hpp"
#include "invariants/history.hpp"
#include "invariants/lease_rules.hpp"
#include "invariants/listings.hpp"
#include "invariants/object_view.hpp"
#include "invariants/reachable.hpp"
#include "invariants/read_lease.hpp"
#include "invariants/stream_history.hpp"
#include "invariants/twin/spec_steps.hpp"
#include "invariants/violation.hpp"
#include "invariants/wall_clocks.hpp"

namespace morula::invariants {

class Observer {
 public:
  /// `now`: true time since the world began. `objects`: what lies in the bucket at that moment;
  /// outlives the observer.
  Observer(std::function<Duration()> now, const ObjectView& objects);

  /// Leases are checked too, by the instances' own clocks; their rates stay within what the leases'
  /// margin is good for.
  void watch_leases(LocalClocks clocks) { leases_.watch(std::move(clocks)); }

  /// `walls`: what the wall clocks of all instances show now. Without it the ends of streams with a
  /// deadline are not checked.
  void watch_walls(std::function<WallClocks::Reading()> walls) { read_walls_ = std::move(walls); }
  /// Nobody will tell of processes and the store, as where the world is real: what only they show
  /// is not checked.
  void sees_clients_only() { sees_store_ = false; }
  /// Looks at them, and says when: to be called before and after somebody sets one.
  Duration look_at_walls();

  /// Every step is held to the specs (invariant 18). From the world's beginning, or not at all: and
  /// `store_sent` is told.
  void hold_to_specs() { spec_steps_.emplace(documents_, violations_); }
  /// How often each action of the specs was taken; null: they are not held to them.
  const twin::Findings::Taken* spec_actions() const {
    return spec_steps_ ? &spec_steps_->taken() : nullptr;
  }

  // ---- clients ----

  /// A client asks. Keep the result for `end`.
  OpRef begin(Request request);
  /// It was answered, or gave up.
  void end(OpRef op, const Response& response);
  /// It was given an answer that the protocol has no place for.
  void unexpected(OpRef op, std::string_view what);
  /// The same of a listing.
  void unexpected(std::string_view what);
  /// A client asks for a page of a listing, and is answered or not (nullptr): each path that it is
  /// about gets an operation of its own.
  OpenListing begin_listing(ListQuestion question);
  void end_listing(const OpenListing& listing, const ListAnswer* answer);
  /// The client is dead: what it had asked stays without answer, and nobody waits for it.
  void client_died(uint32_t client);

  // ---- processes; `process` is its name in messages ----

  /// `handler`: the request that the running fiber handles; 0 when it handles none.
  void step(const StepEvent& event, HandlerId handler);
  void log_line(std::string_view process, Severity severity, std::string_view event,
                std::initializer_list<LogField> fields);
  void started(std::string_view process);
  /// `incarnation`: of the instance that ran in it; empty when it had none.
  void stopped(std::string_view process, std::string_view incarnation, StopReason reason,
               std::string_view why);
  /// SIGSTOP and SIGCONT, or a processor taken away for some time.
  void paused(std::string_view process);
  void resumed(std::string_view process);
  void request_arrived(HandlerId handler, std::string_view process, std::string_view method,
                       std::string_view target);
  /// It was sent away by its stream's owner, and looks for the next one.
  void request_tried_again(HandlerId handler) { append_path_.tried_again(handler); }
  /// `status` 0: cut off without an answer, or with one of another instance.
  void request_answered(HandlerId handler, int status);
  /// A request arrives that two instances have passed on, one to the other.
  void passed_on_again(std::string_view process, std::string_view target);
  /// The instance called `instance` answers a read from its own state, not by forwarding it.
  void read_answered(std::string_view instance, std::string_view tenant, std::string_view target);

  // ---- the store ----

  void store_asked(HandlerId handler, bool writes, Purpose purpose, std::string_view key);
  /// A put is sent. `will_land`: the store carries it out, now or late; it is not lost or refused.
  void store_sent(std::string_view key, std::string_view body, bool will_land);
  /// An object was written or swapped; it can be found in the view already.
  void object_written(std::string_view key, std::string_view body);
  /// A read is sent by `process`, a number that tells processes apart.
  void store_read_sent(std::string_view key, Purpose purpose, uint64_t process);
  /// An object is gone from the view: `process` has asked for it, for `purpose`.
  void object_removed(std::string_view key, Purpose purpose, uint64_t process = 0);
  /// Bytes are damaged on purpose, on their way to `process`: it may log errors about that.
  void bytes_damaged(std::string_view process);

  // ---- the end ----

  /// No more faults from now on: what is asked from now on must be answered within `bound`.
  void healed(Duration bound);
  /// Checks what can only be checked at the end: after the final reads of every stream.
  void finish();

  const Violations& verdict() const { return violations_; }
  const History& history() const { return history_; }
  /// The paths that clients have asked about.
  std::vector<std::string> paths() const;

 private:
  StreamHistory& stream(const std::string& path);
  void check_durable(const Op& op, OpRef ref);
  void check_served();

  std::function<Duration()> now_;
  std::function<WallClocks::Reading()> read_walls_;
  WallClocks walls_;
  Violations violations_;
  History history_;
  std::map<std::string, StreamHistory> streams_;
  DurableRecords durable_;
  DecodedDocuments documents_;
  Reachable reachable_;
  Listings listings_;
  ReadLease reads_;
  Acknowledgements acknowledgements_;
  LeaseRules leases_;
  AdoptionRules adoptions_;
  FencingRules fencing_;
  AppendPath append_path_;
  std::optional<twin::SpecSteps> spec_steps_;
  std::set<uint32_t> dead_clients_;
  std::set<std::string, std::less<>> damaged_;  // processes that were fed damaged bytes
  bool any_damage_ = false;
  bool sees_store_ = true;
  std::optional<Duration> healed_at_;
  Duration bound_{};
};

}  // namespace morula::invariants
