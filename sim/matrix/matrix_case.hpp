// The cases of the crash matrix: what happens to an operation, at which point of it, and who
// recovers.
//
// A case has a name, by which it can be run again:
//     split/crash/request:3/same        the splitting process dies right after it has sent the
//                                       third store request of the split, and starts again
//     flush/pause/switch:17/other       the flushing process is stopped at its 17th suspension
//                                       point, wakes once another has taken over, and dies
//     move/meets_merge/request:2/unlanded
//                                       the second store request of a move takes long to land, and
//                                       a merge of the same lineage is asked for meanwhile
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/base/step.hpp"

namespace morula::sim {

// name, the step that ends it, which process is struck
#define MORULA_OPERATIONS(X)                                            \
  X(split, Split, "the shard's owner")                                  \
  X(merge, Merge, "the owner of both halves")                           \
  X(move, HandOff, "the giver")                                         \
  X(accept, Accept, "the receiver of a move, until it serves")          \
  X(takeover, Publish, "the survivor that has set the dead to expired") \
  X(flush, Flush, "the shard's owner")                                  \
  X(compaction, Compact, "the shard's owner")                           \
  X(collection, Collect, "whoever's turn it is to collect the garbage") \
  X(trim, Trim, "the shard's owner")

enum class Operation : uint8_t {
#define MORULA_OPERATION_ENUM(name, step, who) name,
  MORULA_OPERATIONS(MORULA_OPERATION_ENUM)
#undef MORULA_OPERATION_ENUM
};

inline constexpr std::string_view kOperationNames[] = {
#define MORULA_OPERATION_NAME(name, step, who) #name,
    MORULA_OPERATIONS(MORULA_OPERATION_NAME)
#undef MORULA_OPERATION_NAME
};
inline constexpr size_t kOperations = std::size(kOperationNames);

inline constexpr std::string_view kOperationVictims[] = {
#define MORULA_OPERATION_VICTIM(name, step, who) who,
    MORULA_OPERATIONS(MORULA_OPERATION_VICTIM)
#undef MORULA_OPERATION_VICTIM
};

/// The step that shows that it has come to its end.
Step ending_step(Operation operation);

// name, what happens
#define MORULA_BLOWS(X)                                                                          \
  X(crash, "the process dies; what it has sent lands")                                           \
  X(crash_lost, "the process dies, and the request that it has just sent never lands")           \
  X(crash_late, "the process dies, and the request lands when another may have taken over")      \
  X(pause, "the process is stopped until another has taken over, or for three leases")           \
  X(pause_late, "the same, and the request that it has just sent lands shortly before it wakes") \
  X(answer_lost, "the request is carried out, its answer is lost")                               \
  X(request_lost, "the request is lost, and so is word of it")                                   \
  X(straggler, "the request lands after its sender has begun to repeat it")                      \
  X(late, "the request lands when all is long over")                                             \
  X(meets, "the request, or its answer, takes long, and another operation comes in between")

enum class Blow : uint8_t {
#define MORULA_BLOW_ENUM(name, what) name,
  MORULA_BLOWS(MORULA_BLOW_ENUM)
#undef MORULA_BLOW_ENUM
};

inline constexpr std::string_view kBlowNames[] = {
#define MORULA_BLOW_NAME(name, what) #name,
    MORULA_BLOWS(MORULA_BLOW_NAME)
#undef MORULA_BLOW_NAME
};
inline constexpr std::string_view kBlowSentences[] = {
#define MORULA_BLOW_SENTENCE(name, what) what,
    MORULA_BLOWS(MORULA_BLOW_SENTENCE)
#undef MORULA_BLOW_SENTENCE
};
inline constexpr size_t kBlows = std::size(kBlowNames);

/// What becomes of a process that was struck at a suspension point: the others befall requests.
constexpr bool strikes_at_switches(Blow blow) {
  return blow == Blow::crash || blow == Blow::pause;
}
constexpr bool crashes(Blow blow) {
  return blow == Blow::crash || blow == Blow::crash_lost || blow == Blow::crash_late;
}
constexpr bool pauses(Blow blow) {
  return blow == Blow::pause || blow == Blow::pause_late;
}

/// Who recovers; of a race, what is held back.
enum class Ending : uint8_t {
  same,        // the struck process: starts again, wakes, or finds out what became of its request
  other,       // somebody else: the struck process dies, at the latest a moment after that
  unlanded,    // the request lands after the other operation
  unanswered,  // the request lands at once, and is answered after the other operation
};
inline constexpr std::string_view kEndingNames[] = {"same", "other", "unlanded", "unanswered"};

enum class PointKind : uint8_t { request, switches };

struct MatrixCase {
  Operation operation = Operation::split;
  Blow blow = Blow::crash;
  Operation meets = Operation::split;  // with Blow::meets
  PointKind kind = PointKind::request;
  uint32_t point = 0;  // counted from 1; 0: nothing happens, the points are counted
  Ending ending = Ending::same;

  std::string name() const;
  /// kInvalid, with what is wrong.
  static Result<MatrixCase> parse(std::string_view name);
};

}  // namespace morula::sim
