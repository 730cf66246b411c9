// The own entry of an adopted manifest begins at a seq that its owner never sent (OWNERSHIP R3c):
// below it may lie batches of other shards, and one that landed without its owner knowing.
#pragma once

#include <map>
#include <string>

#include "core/base/units.hpp"
#include "core/rt/trace.hpp"
#include "invariants/violation.hpp"

namespace morula::invariants {

class AdoptionRules {
 public:
  explicit AdoptionRules(Violations& violations) : violations_(violations) {}

  void step(const StepEvent& event, Duration now) {
    if (event.step == Step::kPutLog) {
      uint64_t& end = sent_below_.try_emplace(std::string(event.actor), 0).first->second;
      if (event.position >= end) end = event.position + 1;
    }
    if (event.step != Step::kAdopt) return;
    auto sent = sent_below_.find(event.actor);
    if (sent == sent_below_.end() || event.position >= sent->second) return;
    violations_.report(Invariant::kOwnershipRule, now,
                       std::string(event.actor) + " adopts " + std::string(event.subject) +
                           " from seq " + std::to_string(event.position) +
                           " of its log, but has sent seq " + std::to_string(sent->second - 1) +
                           " already (R3c)");
  }

 private:
  Violations& violations_;
  std::map<std::string, uint64_t, std::less<>> sent_below_;  // by incarnation
};

}  // namespace morula::invariants
