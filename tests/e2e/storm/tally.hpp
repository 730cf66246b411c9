// What a person is told of a storm: how much was asked and answered, which changes of the cell were
// made, which places were reached, and all of a stream's history when a promise about it was
// broken.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "core/api/cell_steps.hpp"
#include "core/rt/trace.hpp"
#include "invariants/observer.hpp"

namespace morula::storm {

/// Counts the places that clients reach; nothing else is told to a client's trace.
class Places final : public Trace {
 public:
  void step(const StepEvent&) override {}
  void log(Severity, std::string_view, std::initializer_list<LogField>) override {}
  void sometimes(std::string_view place, bool reached) override {
    if (reached) ++reached_[std::string(place)];
  }
  const std::map<std::string, uint64_t>& reached() const { return reached_; }

 private:
  std::map<std::string, uint64_t> reached_;
};

/// Of changes that were answered as done and not as being so already.
struct ChangesDone {
  uint64_t splits = 0;
  uint64_t merges = 0;
  uint64_t moves = 0;

  void add(CellStep::Kind kind);
  /// "12 splits, 9 merges, 17 moves"
  std::string text() const;
};

/// Of all operations that have ended.
struct Tally {
  uint64_t operations = 0;
  uint64_t appends_acknowledged = 0;  // creates with content, too
  uint64_t found_done = 0;            // of those, retries of producers that were there already
  uint64_t messages_read = 0;
  std::map<std::string, uint64_t> by_kind;
  std::map<std::string, uint64_t> refused;    // by code: certainly without effect
  std::map<std::string, uint64_t> uncertain;  // by code

  /// In some lines.
  std::string text() const;
  uint64_t uncertain_count() const;
};
Tally tally(const invariants::History& history);

/// Every operation on the paths that a violation is about, in the order of their beginnings.
std::string histories_of(const invariants::Observer& observer);

}  // namespace morula::storm
