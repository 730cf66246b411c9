// The member documents, held to Lease: RenewLease, Stop, Land, Expire, LandExpire, LoseLease, Hear.
//
// The projection is one incarnation's document, from the moment at which it has its name; a renewal
// is sent on the version that its holder wrote last. Left out is all time: how long a lease holds
// and how long somebody has watched (LeaseRules), and so the watcher's reads. That a name goes to
// its next incarnation is none of the spec's actions: a document may not be live any more then.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "core/fleet/member.hpp"
#include "invariants/spec/lease.hpp"
#include "invariants/twin/findings.hpp"
#include "invariants/twin/said_steps.hpp"

namespace morula::invariants::twin {

class LeaseSteps {
 public:
  LeaseSteps(Findings& findings, SaidSteps& said) : findings_(findings), said_(said) {}

  /// The document of its name is now this.
  void landed(const Member& now);
  void LoseLease(const IncarnationId& holder);

 private:
  struct Document {
    Member now;
    Version own;  // the last version that its incarnation has written
    bool serving = true;
  };

  void renewed(Document& document, const Member& now);
  void expired(Document& document, const Member& now);
  static spec::LeaseState project(const Document& document);

  Findings& findings_;
  SaidSteps& said_;
  std::map<std::string, Document, std::less<>> documents_;  // by name
};

}  // namespace morula::invariants::twin
