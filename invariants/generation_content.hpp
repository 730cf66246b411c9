// What one creation of a stream holds, pieced together from everything that clients were told: an
// acknowledged append says which messages lie before its offset, a read shows a range. Nothing that
// was once said may ever be contradicted (invariants 1 and 2).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "invariants/history.hpp"

namespace morula::invariants {

/// A message of the stream, and who said first that it lies there.
struct Slot {
  RecordId record;
  uint32_t index = 0;
  uint32_t count = 0;  // 0: nobody has said yet what lies here
  OpRef witness = kNoOp;

  bool known() const { return count > 0; }
};

/// What contradicts what was known.
struct Contradiction {
  Invariant invariant;
  std::string what;
};

class GenerationContent {
 public:
  GenerationContent(const History& history, uint64_t generation)
      : history_(history), generation_(generation) {}

  /// `message` lies at `position` (a message count), says `witness`.
  std::optional<Contradiction> place(uint64_t position, const Message& message, OpRef witness);
  /// `offset` is an offset of this stream, says `witness`: a message count has one byte position.
  std::optional<Contradiction> place_offset(Offset offset, OpRef witness);

  uint64_t generation() const { return generation_; }
  /// One after the last message that anybody knows of.
  uint64_t known_end() const { return slots_.size(); }
  const std::vector<Slot>& slots() const { return slots_; }
  /// The position of the record's first message; nullopt when nobody has seen it.
  std::optional<uint64_t> find(RecordId record) const;
  /// Every record seen, with the position of its first message.
  const std::map<RecordId, uint64_t>& records() const { return first_; }

 private:
  struct Boundary {
    uint64_t bytes = 0;
    OpRef witness = kNoOp;
  };

  std::string known_as(const Slot& slot) const;

  const History& history_;
  uint64_t generation_;
  std::vector<Slot> slots_;
  std::map<RecordId, uint64_t> first_;
  std::map<uint64_t, Boundary> boundaries_;  // by message count
};

}  // namespace morula::invariants
