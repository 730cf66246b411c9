// What must always hold, by number (DESIGN.md section 7), and how a checker says that it did not.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/units.hpp"

namespace morula::invariants {

// name, number in DESIGN.md ("" where it has none), what must hold
#define MORULA_INVARIANTS(X)                                                                   \
  X(kNothingLost, "1", "no acknowledged append is lost or changed")                            \
  X(kNothingTwice, "2", "no append appears twice; offsets never repeat or go back")            \
  X(kLinearizable, "3", "every stream's history is linearizable")                              \
  X(kOneAcknowledger, "4", "no two incarnations acknowledge for one stream after a transfer")  \
  X(kNothingDangling, "6", "all that a reachable manifest names exists")                       \
  X(kAppendPath, "7", "the only write before an acknowledgement is the log PUT")               \
  X(kServed, "8", "after healing every stream is served and every request ends")               \
  X(kExpiry, "13", "a stream with a deadline is there until then, and gone for good after")    \
  X(kListing, "14", "a listing is in order, and shows only what somebody created")             \
  X(kPlan, "15", "a served bucket plan is the topology's, and a sound one to plan on with")    \
  X(kCellAnswer, "16", "a split, merge or move that was answered is in the topology it names") \
  X(kPrompt, "17", "splits and merges let nobody wait")                                        \
  X(kSpecStep, "18", "every step of the protocol is one of its specs, with the same effects")  \
  X(kNoFalseFencing, "F", "an incarnation stops as fenced only if it was fenced or expired")   \
  X(kOwnershipRule, "R", "the steps of the ownership protocol are taken as its rules say")     \
  X(kNoErrorLine, "E", "nothing is logged as an error that no injected fault explains")

enum class Invariant : uint8_t {
#define MORULA_INVARIANT_ENUM(name, number, what) name,
  MORULA_INVARIANTS(MORULA_INVARIANT_ENUM)
#undef MORULA_INVARIANT_ENUM
};

/// "1", "2", ..., "F": short, for tables.
std::string_view number_of(Invariant invariant);
/// What must hold, in words.
std::string_view to_string(Invariant invariant);

struct Violation {
  Invariant invariant;
  Duration at{};        // true time since the world began
  std::string message;  // which stream, which operations, when, and what was expected
};

/// "invariant 3 (every stream's history is linearizable) broke at 12.345678 s: ..."
std::string to_string(const Violation& violation);
/// "12.345678 s"
std::string time_text(Duration at);

/// Where checkers report to. Keeps the first few; a broken world breaks many things.
class Violations {
 public:
  static constexpr size_t kKept = 16;

  void report(Invariant invariant, Duration at, std::string message);
  bool empty() const { return count_ == 0; }
  size_t count() const { return count_; }
  const std::vector<Violation>& kept() const { return kept_; }

 private:
  size_t count_ = 0;
  std::vector<Violation> kept_;
};

}  // namespace morula::invariants
