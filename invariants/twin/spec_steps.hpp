// Invariant 18: every step of the ownership protocol is one that the specs (tla/) can take, with
// the effects that it has there.
//
// A request is the spec's action when it is sent, if it can land at all; that it lands is an action
// of its own (LandLog, LandManifest, Publish). Steps that are no requests are told by step events;
// those of requests say that what was sent has landed (said_steps.hpp). Which part of the cell an
// action is shown, and what is left out of it, is said at the head of each projection's header.
// Left out altogether: the contents of tables, HandAsk and HandAbort, and time.
//
// Requests have to be told when they are sent (`store_sent`); without that only what lands and what
// is said is checked.
#pragma once

#include <string_view>

#include "core/rt/store.hpp"
#include "core/rt/trace.hpp"
#include "invariants/decoded_documents.hpp"
#include "invariants/twin/findings.hpp"
#include "invariants/twin/lease_steps.hpp"
#include "invariants/twin/log_steps.hpp"
#include "invariants/twin/manifest_steps.hpp"
#include "invariants/twin/said_steps.hpp"
#include "invariants/twin/seen_cell.hpp"
#include "invariants/twin/table_steps.hpp"
#include "invariants/twin/transfer_steps.hpp"

namespace morula::invariants::twin {

class SpecSteps {
 public:
  SpecSteps(DecodedDocuments& documents, Violations& violations)
      : documents_(documents),
        findings_(violations),
        said_(findings_),
        logs_(cell_, findings_),
        manifests_(cell_, findings_, said_),
        transfers_(cell_, findings_, said_),
        tables_(cell_, findings_),
        leases_(findings_, said_) {}

  void step(const StepEvent& event, Duration now);
  /// A put is sent. `will_land`: the store carries it out, sooner or later.
  void sent(std::string_view key, std::string_view body, bool will_land, Duration now);
  void written(std::string_view key, std::string_view body, Duration now);
  /// A collector sends its read of the topology.
  void collector_asks(CollectorId collector) { cell_.collector_asks(collector); }
  void removed(std::string_view key, Purpose purpose, CollectorId by, Duration now);
  /// How often each action of the specs was taken.
  const Findings::Taken& taken() const { return findings_.taken(); }

 private:
  void log_sent(std::string_view key, std::string_view body);
  void log_written(std::string_view key, std::string_view body);
  void log_step(SeenLog& actor, const StepEvent& event);

  DecodedDocuments& documents_;
  SeenCell cell_;
  Findings findings_;
  SaidSteps said_;
  LogSteps logs_;
  ManifestSteps manifests_;
  TransferSteps transfers_;
  TableSteps tables_;
  LeaseSteps leases_;
};

}  // namespace morula::invariants::twin
