// Invariants 1 to 3 for one path: nothing acknowledged is lost, nothing appears twice, and the
// history is linearizable.
//
// The problem is easy here because a stream only grows: the states of a path are one line,
//
//   never created < generation 1 with 0, 1, 2, ... messages < 1 deleted < generation 2 with 0, ...
//
// and the world only ever moves to the right. So each answered operation says two things: when it
// began the world was at most `at_begin`, when it ended at least `at_end` (both are the tail that a
// read showed; an append moves from before its messages to after them). The history is linearizable
// exactly if no operation's `at_end` lies right of the `at_begin` of one that began after it had
// ended. Checking that takes one pass: the running maximum of `at_end` over all ended operations is
// the `floor` of those that begin now.
//
// Deletes don't say which generation they ended, and an operation without answer may happen at any
// time from its beginning on, or never: for those, each generation that is seen to be gone must be
// matched with a delete of its own that can have done it, and each acknowledged delete with a
// generation of its own. A generation with a deadline can have ended by that instead, once its time
// was over by some clock (stream_lifetime.cpp).
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "invariants/generation_content.hpp"
#include "invariants/history.hpp"
#include "invariants/wall_clocks.hpp"

namespace morula::invariants {

/// A state of a path.
struct Position {
  static constexpr uint64_t kGone = UINT64_MAX;

  uint64_t generation = 0;    // 0: never created
  uint64_t messages = kGone;  // kGone: deleted
  bool gone() const { return messages == kGone; }
  friend auto operator<=>(const Position&, const Position&) = default;
};

class StreamHistory {
 public:
  StreamHistory(const History& history, const WallClocks& walls, std::string path,
                Violations& violations)
      : history_(history), walls_(walls), path_(std::move(path)), violations_(violations) {}

  /// After the history has it. All operations passed here are of this path.
  void begin(OpRef op);
  /// Checks it against everything that was known when it began.
  void end(OpRef op);
  /// Checks the whole history once more, with all that is known by now: what an unanswered
  /// operation did, which generation an append was in.
  void finish(Duration now);

  const std::string& path() const { return path_; }
  const std::map<uint64_t, GenerationContent>& generations() const { return generations_; }

 private:
  struct Bounds {
    Position at_begin;  // the world was at most here when the operation began
    Position at_end;    // and at least here when it ended
  };
  struct Entry {
    OpRef op = kNoOp;
    Position floor;  // the world was at least here when it began
    OpRef floor_by = kNoOp;
  };
  struct Floor {
    Position at;
    OpRef by = kNoOp;
  };
  /// When a generation can have come and gone.
  struct Gap {
    uint64_t generation = 0;
    uint64_t first_in = UINT64_MAX;  // an operation that ended here had come to it or passed it
    uint64_t last_in = 0;            // an operation that began here still was in it or before it
    OpRef last_in_by = kNoOp;
    uint64_t first_out = UINT64_MAX;  // an operation that ended here had left it
    OpRef first_out_by = kNoOp;
  };

  /// Whether an operation gives a stream its TTL again. kBeforeItsAnswer: perhaps, while it lasts.
  enum class Renewal : uint8_t { kNone, kDone, kBeforeItsAnswer, kAtAnyTime };
  /// What the creator of a generation, or whoever may be it, has asked for.
  struct Lifetime {
    int64_t ttl_ms = 0;  // unless there is an end
    std::optional<WallTime> first_end;
    std::optional<WallTime> last_end;
  };

  // What an answer says of the content.
  void learn(OpRef ref);
  void learn_read(OpRef ref);
  void learn_append(OpRef ref, uint64_t generation);
  void place_messages(GenerationContent& content, uint64_t first,
                      const std::vector<Message>& messages, OpRef ref);
  void check_known_record(const Message& message, OpRef ref);

  // What it says of the order.
  std::optional<Bounds> bounds(OpRef ref, Position floor) const;
  std::optional<Bounds> bounds_of_ok(const Op& op) const;
  std::optional<Bounds> bounds_of_append(const Op& op) const;
  /// Reports when the operation contradicts what had ended before it began.
  void check_floor(OpRef ref, const Bounds& bounds, const Floor& floor, Duration now);

  // At the end.
  std::vector<Gap> check_order(Duration now);
  void check_unanswered(OpRef ref, const Floor& floor, Duration now);
  void check_deletes(const std::vector<Gap>& gaps, Duration now);
  /// Whether between two generations, or before or after all, there can have been one that nobody
  /// saw, which `create` made and `del` ended.
  bool can_hide(const std::vector<Gap>& gaps, const Op& create, const Op& del) const;
  void check_creators(const std::vector<Gap>& gaps, Duration now);
  void check_records(Duration now);
  void check_producers(const GenerationContent& content, Duration now);
  void check_sequences(const GenerationContent& content, Duration now);
  void check_regressions(Duration now);
  static Renewal renewal_of(const Op& op);
  /// nullopt: for ever.
  std::optional<Lifetime> lifetime_of(uint64_t generation) const;
  bool may_have_expired(const Gap& gap) const;
  void check_lifetimes(const std::vector<Gap>& gaps, Duration now);
  void check_end(uint64_t generation, const Lifetime& lifetime, uint64_t any_time_from,
                 Duration now);
  void check_holes(Duration now);

  std::optional<uint64_t> generation_of(const Op& op) const;
  GenerationContent& content(uint64_t generation);
  void report(Invariant invariant, Duration at, std::string message);
  void report(const std::optional<Contradiction>& contradiction, Duration at);

  const History& history_;
  const WallClocks& walls_;
  std::string path_;
  Violations& violations_;
  std::map<uint64_t, GenerationContent> generations_;
  std::map<RecordId, std::vector<OpRef>> attempts_;
  std::vector<Entry> entries_;
  std::map<OpRef, size_t> open_;  // of entries_
  std::set<std::string> reported_;
  Floor floor_;
};

}  // namespace morula::invariants
