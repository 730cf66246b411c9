// When an incarnation may be treated as gone, and when it may think so itself:
//
// - it stops as fenced only if foreign content lies at its own seq (or its own has been collected,
//   which takes a fence), and as expired only if its member document says so or names another
//   incarnation: anything else is a healthy owner lost;
// - somebody fences its log, or says that it is expired, only if its member document says so
//   (OWNERSHIP R3, Reads).
#pragma once

#include <map>
#include <optional>
#include <string>

#include "core/fleet/member.hpp"
#include "core/rt/trace.hpp"
#include "invariants/incarnation_names.hpp"
#include "invariants/object_view.hpp"
#include "invariants/reachable.hpp"
#include "invariants/violation.hpp"

namespace morula::invariants {

/// Why a process is no more, as its host sees it.
enum class StopReason : uint8_t {
  kStopped,    // it was asked to, and did so cleanly
  kFenced,     // it says that its log was fenced
  kLeaseLost,  // it says that its member document was expired or replaced
  kFailed,     // it could not start or go on, and says why
  kKilled,     // a fault: crash, out of memory
};
std::string_view to_string(StopReason reason);

class FencingRules {
 public:
  FencingRules(const ObjectView& objects, const Reachable& reachable, Violations& violations)
      : objects_(objects), reachable_(reachable), violations_(violations) {}

  void step(const StepEvent& event, Duration now);
  /// `incarnation` ended so.
  void stopped(std::string_view incarnation, StopReason reason, Duration now);

 private:
  void Fenced(const IncarnationId& actor, LogSeq seq, Duration now);
  void LoseLease(const IncarnationId& actor, Duration now);
  void Expire(const StepEvent& event, Duration now);
  void Fence(const StepEvent& event, Duration now);
  /// Why the document still protects the incarnation; nullopt when it doesn't.
  std::optional<std::string> still_live(const IncarnationId& incarnation) const;

  const ObjectView& objects_;
  const Reachable& reachable_;
  Violations& violations_;
  IncarnationNames names_;
  std::map<std::string, Step, std::less<>> ended_by_;  // incarnations that took such a step
};

}  // namespace morula::invariants
