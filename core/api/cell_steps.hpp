// One change of the topology, carried out wherever the owner of the shard is.
//
// An attempt looks at the cell afresh, and is made at the owner: here, or by passing the step on.
// It is made again, a bounded number of times, while the owner changes, is busy or does not answer.
// That may be done even where an answer was lost, because a step says what is to be, not what is to
// be done: asked for again, it is so already.
//
// A step that was passed on is never passed on again: an instance that does not own the shard says
// who does.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "core/api/api.hpp"
#include "core/api/cell_control.hpp"
#include "core/base/prefix.hpp"
#include "core/rt/network.hpp"

namespace morula {

inline constexpr std::string_view kCellPath = "/v1/cell";

struct CellStep {
  enum class Kind : uint8_t { kSplit, kMerge, kMove };
  Kind kind = Kind::kSplit;
  Prefix prefix;   // with kMerge: of the merged shard
  std::string to;  // with kMove: the name of an instance
};

// What stands between a view of the cell and a step.

/// It is so already.
struct StepDone {};
/// It can't be, and won't be by waiting.
struct StepRefused {
  HttpResponse response;
};
/// It can't be now.
struct StepWaits {
  std::string why;
};
/// The two halves that are to be merged are with different owners.
struct StepApart {
  Prefix second;
  std::string first_owner;  // name
};
/// This one carries it out.
struct StepOwner {
  CellView::Known owner;
  IncarnationId to;  // with kMove
};
using StepOutlook = std::variant<StepDone, StepRefused, StepWaits, StepApart, StepOwner>;

StepOutlook outlook(const CellView& view, const CellStep& step);

/// The incarnation's entry if it is live; else null.
const CellView::Known* live_member(const CellView& view, const IncarnationId& incarnation);

class CellStepper {
 public:
  /// Everything outlives the stepper. `hops`: how often the request was passed on before it came
  /// here.
  CellStepper(const Env& env, const ApiConfig& config, CellControl& control, uint64_t hops,
              Time deadline)
      : env_(env), config_(config), control_(control), hops_(hops), deadline_(deadline) {}

  using Outcome = std::variant<Changed, HttpResponse>;
  /// The change, or the answer that says why there is none. Halves that live apart are moved
  /// together before they are merged. Suspends; throws Cancelled.
  Outcome carry_out(const CellStep& step);

 private:
  struct Again {
    std::string why;
    bool owner_busy = false;  // else: who owns it is changing
  };
  using Attempt = std::variant<Changed, HttpResponse, Again>;

  Attempt attempt(const CellStep& step);
  Attempt attempt_here(const CellStep& step, const StepOwner& place);
  Attempt attempt_there(const CellStep& step, const std::string& address);
  Attempt bring_together(const StepApart& apart);

  const Env& env_;
  const ApiConfig& config_;
  CellControl& control_;
  const uint64_t hops_;
  const Time deadline_;
  bool answer_lost_ = false;  // of an attempt at the present step
};

/// The request that asks an instance for the step.
HttpRequest step_request(const CellStep& step);
/// {"changed","version"}, and back.
HttpResponse changed_response(const Changed& changed);
Result<Changed> parse_changed(const std::string& body);

}  // namespace morula
