// Invariant 7: the only write before an acknowledgement is the log PUT, and no liveness check is on
// that path.
//
// A request is handled by one fiber. What that fiber asks of the store itself is on the path of its
// answer; a log PUT is not among it, because the log's own fibers send those for everybody. So:
//
// - a handler only reads rows: it never writes to the store, and never looks at ownership or
//   leases;
// - once its append has joined the log (step Append) it asks nothing at all; a GET whose renewal of
//   a TTL has joined it reads on meanwhile, and whoever is sent away begins anew;
// - its answer leaves at the very moment at which its log position is acknowledged: not earlier,
//   and, as computing takes no time in a simulated world, not later, or it has waited for something
//   else. A process that was stopped meanwhile is excused from the last, and so is a GET.
//
// Requests about the cell itself are none of this: they look at ownership because they are asked.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/rt/store.hpp"
#include "core/rt/trace.hpp"
#include "invariants/violation.hpp"

namespace morula::invariants {

/// Names a request that some process handles; 0: none.
using HandlerId = uint64_t;

class AppendPath {
 public:
  explicit AppendPath(Violations& violations) : violations_(violations) {}

  /// A handler starts: its requests to the store and its steps carry `handler` from now on.
  void arrived(HandlerId handler, std::string_view process, std::string_view method,
               std::string_view target, Duration now);
  /// It answers now (status 0: it was cut off, or the answer is another instance's).
  void answered(HandlerId handler, int status, Duration now);
  /// What it did here counts for nothing: it looks for the stream's next owner.
  void tried_again(HandlerId handler);
  void asked_store(HandlerId handler, bool writes, Purpose purpose, std::string_view key,
                   Duration now);
  /// Every step; `handler` is the one whose fiber took it.
  void step(HandlerId handler, const StepEvent& event, Duration now);
  /// The process was stopped for a while: when it does what proves nothing for requests under way.
  void stopped_for_a_while(std::string_view process);
  /// The process is dead, and what it handled with it.
  void died(std::string_view process);
  /// Requests that are being handled, oldest first, for a person.
  std::vector<std::string> under_way(Duration arrived_before) const;

 private:
  struct Handled {
    std::string process;
    std::string what;  // "POST /v1/stream/a"
    bool reads = false;
    bool is_of_cell = false;  // about the cell, not about a stream
    Duration arrived{};
    bool excused = false;     // from answering at once
    std::string incarnation;  // with an append: whose log it joined; empty before
    uint64_t seq = 0;
    std::optional<Duration> acknowledged;
  };

  std::string describe(const Handled& handled) const;

  Violations& violations_;
  std::map<HandlerId, Handled> handled_;
};

}  // namespace morula::invariants
