// The own entry of an adopted manifest begins at a seq that its owner never sent (OWNERSHIP R3c):
// below it may lie batches of other shards, and one that landed without its owner knowing.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "core/base/units.hpp"
#include "core/rt/trace.hpp"
#include "invariants/violation.hpp"

namespace morula::invariants {

class AdoptionRules {
 public:
  explicit AdoptionRules(Violations& violations) : violations_(violations) {}

  /// A manifest is about to be sent: the moment at which its own entry's begin was pinned.
  void manifest_sent(std::string_view key) {
    if (sent_at_.find(key) == sent_at_.end()) sent_at_.emplace(key, sent_below_);
  }

  void step(const StepEvent& event, Duration now) {
    if (event.step == Step::kPutLog) {
      uint64_t& end = sent_below_.try_emplace(std::string(event.actor), 0).first->second;
      if (event.position >= end) end = event.position + 1;
    }
    if (event.step != Step::kAdopt) return;
    auto begun = sent_at_.find(event.subject);
    const Ends& ends = begun == sent_at_.end() ? sent_below_ : begun->second;
    auto sent = ends.find(event.actor);
    if (sent == ends.end() || event.position >= sent->second) return;
    violations_.report(Invariant::kOwnershipRule, now,
                       std::string(event.actor) + " adopts " + std::string(event.subject) +
                           " from seq " + std::to_string(event.position) +
                           " of its log, but had sent seq " + std::to_string(sent->second - 1) +
                           " when it wrote the manifest (R3c)");
  }

 private:
  using Ends = std::map<std::string, uint64_t, std::less<>>;  // by incarnation

  Violations& violations_;
  Ends sent_below_;
  std::map<std::string, Ends, std::less<>> sent_at_;  // by manifest key: when it was first sent
};

}  // namespace morula::invariants
