// Invariant 4: after a transfer of a stream only its new owner acknowledges what the new owner
// doesn't already hold. From the steps that incarnations take, and the bucket as it lies there:
//
// - a batch is acknowledged only when it and all below it lie in the log (OWNERSHIP R1);
// - a record is acknowledged only while the topology's manifest of its shard names its place of the
//   log: so it can be reached, and whoever takes the shard over finds it (D);
// - nothing at or above a fence that counted is ever acknowledged (R9, F).
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>

#include "core/rt/trace.hpp"
#include "invariants/incarnation_names.hpp"
#include "invariants/object_view.hpp"
#include "invariants/reachable.hpp"
#include "invariants/read_lease.hpp"
#include "invariants/violation.hpp"

namespace morula::invariants {

class Acknowledgements {
 public:
  Acknowledgements(const ObjectView& objects, Reachable& reachable, ReadLease& reads,
                   Violations& violations)
      : objects_(objects), reachable_(reachable), reads_(reads), violations_(violations) {}

  /// Every step, at the moment it is taken.
  void step(const StepEvent& event, Duration now);

 private:
  struct Appended {
    StreamId stream;
    LogSeq seq;
  };
  struct Log {
    std::deque<Appended> pending;  // in the order of their seqs
    LogSeq acknowledged;
    Duration acknowledged_at{};
    std::optional<LogSeq> fence;  // the lowest that counted
    std::string fenced_by;
    Duration fenced_at{};
  };

  void Append(const IncarnationId& actor, const StepEvent& event, Duration now);
  void Acknowledge(const IncarnationId& actor, LogSeq position, Duration now);
  void Fence(const StepEvent& event, Duration now);
  void check_landed(const IncarnationId& actor, LogSeq from, LogSeq to, Duration now);
  void check_named(const IncarnationId& actor, const Appended& appended, Duration now);

  const ObjectView& objects_;
  Reachable& reachable_;
  ReadLease& reads_;
  Violations& violations_;
  IncarnationNames names_;
  std::map<IncarnationId, Log> logs_;
};

}  // namespace morula::invariants
