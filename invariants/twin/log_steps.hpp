// What happens to one log, held to OwnershipLog: PutLog, LandLog, Stop, LandStopFence, FencePut,
// Fence, Trim, Collect, Accept, and what it calls Acked.
//
// The projection of a log is the part of it that the action looks at, its first position moved to
// 0, as incarnation 1; all its records are of shard 1, whose manifests are those of the cell that
// name the log. Left out:
//   - what is noted before it is carried out: a trim and a collection are held to what is named and
//     pinned at the moment of each deletion, and not to the order in which they have looked; nor
//     does a stop hinder a deletion that was sent before it;
//   - of pins those that the code keeps for what it will send later;
//   - where a fence is put: only whether it counts. A fence counts if it did at some moment since
//     it was put: the LIST that a taker goes by is older than the step;
//   - what a deletion was for: of fences, only those that counted at some moment must stay. A stray
//     one can come late to a place that was trimmed, and a repeated or late deletion takes it away.
//     It never counts there: the last W landed objects lie above it;
//   - a stop that has sent no batch.
// A manifest that the code's own view alone still names is not looked at: who was taken over and
// has not heard of it serves on, in the spec and in the code, but may trim.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/rt/trace.hpp"
#include "invariants/spec/ownership_log.hpp"
#include "invariants/twin/findings.hpp"
#include "invariants/twin/seen_cell.hpp"

namespace morula::invariants::twin {

class LogSteps {
 public:
  LogSteps(SeenCell& cell, Findings& findings) : cell_(cell), findings_(findings) {}

  // ---- what is sent and said ----

  /// A record of `stream` joins the batch `seq`: that it may be sent is PutLog's guard.
  void appended(SeenLog& own, StreamId stream, uint64_t seq);
  void PutLog(SeenLog& own, uint64_t seq);
  void Acknowledge(SeenLog& own, uint64_t position);
  void Stop(SeenLog& own, uint64_t seq);
  /// `taker` says that the fence counts.
  void Fence(const SeenLog& taker, SeenLog& victim, uint64_t seq);
  /// Whether the promise holds: a violation is told, and it counts none the less.
  void Accept(const SeenLog& receiver, Prefix shard, const StepEvent& event);
  /// Says up to where it will delete.
  void Trim(const SeenLog& own, uint64_t end);
  /// The range is read from its begin to its end.
  void Replay(const SeenLog& log, uint64_t from, uint64_t to);

  // ---- what lands ----

  void landed(SeenLog& own, uint64_t seq, spec::LogObject object, bool by_itself);
  /// One of its objects was deleted: trimmed, or collected.
  void trimmed(SeenLog& own, uint64_t seq);
  void collected(SeenLog& own, uint64_t seq, CollectorId collector);

 private:
  using Spec = spec::OwnershipLog;
  using State = spec::OwnershipLogState;

  const Spec& twin();
  State log_from(const SeenLog& own, uint64_t base, uint64_t end) const;
  void add_named(State& state, const SeenLog& own, uint64_t base) const;
  void add_requests(State& state, const SeenLog& own, uint64_t base) const;
  State trim_state(const SeenLog& own, uint64_t seq) const;
  bool counts(const SeenLog& own, uint64_t fence);
  void look_at_fences(SeenLog& own);
  bool can(const State& state, const Spec::Step& step, const std::string& what);

  SeenCell& cell_;
  Findings& findings_;
  std::optional<Spec> twin_;
  uint64_t twin_window_ = 0;
};

}  // namespace morula::invariants::twin
