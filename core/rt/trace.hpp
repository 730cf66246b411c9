// What the cell tells about itself: protocol steps, log lines, places that a simulation should
// reach.
//
// In simulation every event goes into the trace hash and to the invariants; in production steps and
// lines become structured logs and counters.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "core/base/step.hpp"

namespace morula {

/// A step that `actor` has taken. What subject, position and other mean depends on the step:
///   Append       subject: stream id, hex    position: seq of the batch
///   PutLog       position: seq
///   Acknowledge  position: the acknowledged position (all below it has landed)
///   Fenced       position: the own seq with foreign content
///   Flush        subject: shard             position: the new `from`    other: manifest version
///   Trim         position: all below it may be deleted
///   Fence        subject: the fenced incarnation   position: f
///   Seal         subject: manifest key      other: its version
///   Adopt        subject: manifest key      position: q, where the own entry begins
///   Publish      subject: shard             other: topology version
///   HandOff      subject: shard             other: topology version
///   Accept       subject: shard             position: q             other: version of the ask
///                attempt: of the ask, part of its id
///   Split        subject: the parent        position: the halves' epoch
///   Merge        subject: the whole         position: its epoch
///   Reopen       subject: shard             position: its epoch
///   Replay       subject: the replayed incarnation   position: from   other: to
///   RenewLease   position: until when the lease holds, ns of the own clock   other: member version
///   Expire       subject: the expired incarnation    other: member version
///   LoseLease    other: member version found
struct StepEvent {
  Step step;
  std::string_view actor;  // the incarnation that took it
  std::string_view subject = {};
  uint64_t position = 0;
  uint64_t other = 0;
  uint64_t attempt = 0;
};

/// kError means that a promise is broken or damage was found: in simulation it fails the seed
/// unless the fault that was injected explains it.
enum class Severity : uint8_t { kDebug, kInfo, kWarning, kError };

struct LogField {
  LogField(std::string_view n, std::string v) : name(n), value(std::move(v)) {}
  LogField(std::string_view n, std::string_view v) : name(n), value(v) {}
  LogField(std::string_view n, const char* v) : name(n), value(v) {}
  LogField(std::string_view n, uint64_t v) : name(n), value(std::to_string(v)) {}
  std::string_view name;
  std::string value;
};

class Trace {
 public:
  virtual ~Trace() = default;

  virtual void step(const StepEvent& event) = 0;
  /// `event` is a literal in snake_case: "member_expired". Never anything secret in the fields.
  virtual void log(Severity severity, std::string_view event,
                   std::initializer_list<LogField> fields) = 0;
  /// Marks a place or combination worth reaching; a sweep reports those that it never reached.
  /// `place` is a literal in words: "fence found the log longer than its list". Free in production.
  virtual void sometimes(std::string_view place, bool reached) = 0;
};

}  // namespace morula
