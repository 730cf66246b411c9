#include "invariants/generation_content.hpp"

#include <utility>

namespace morula::invariants {

namespace {

std::string part_of(RecordId record, uint32_t index, uint32_t count) {
  std::string out = "record " + to_string(record);
  if (count > 1) out += " part " + std::to_string(index) + " of " + std::to_string(count);
  return out;
}

bool acknowledged(const Op& op) {
  return op.request.messages > 0 && op.response.outcome == Outcome::kOk;
}

}  // namespace

std::string GenerationContent::known_as(const Slot& slot) const {
  return part_of(slot.record, slot.index, slot.count) + " (by " + history_.describe(slot.witness) +
         ")";
}

std::optional<Contradiction> GenerationContent::place(uint64_t position, const Message& message,
                                                      OpRef witness) {
  if (position < slots_.size() && slots_[position].known()) {
    const Slot& known = slots_[position];
    if (known.record == message.record && known.index == message.index) return std::nullopt;
    // Two appends that were both acknowledged for one offset is a doubled offset; a message that
    // was shown or acknowledged and is another one now has changed.
    const Op& teller = history_.op(witness);
    bool both = acknowledged(teller) && acknowledged(history_.op(known.witness));
    return Contradiction{both ? Invariant::kNothingTwice : Invariant::kNothingLost,
                         "message " + std::to_string(position) + " is " + known_as(known) +
                             ", but is " + part_of(message.record, message.index, message.count) +
                             " by " + history_.describe(witness)};
  }
  if (message.index > position) {
    return Contradiction{Invariant::kNothingLost,
                         "message " + std::to_string(position) + " is " +
                             part_of(message.record, message.index, message.count) +
                             ", whose first parts would lie before the stream's start, by " +
                             history_.describe(witness)};
  }
  auto [first, is_new] = first_.emplace(message.record, position - message.index);
  if (!is_new && first->second != position - message.index) {
    return Contradiction{Invariant::kNothingTwice,
                         part_of(message.record, message.index, message.count) + " lies at " +
                             std::to_string(first->second + message.index) + " and again at " +
                             std::to_string(position) + ", by " + history_.describe(witness)};
  }
  if (position >= slots_.size()) slots_.resize(position + 1);
  slots_[position] = {message.record, message.index, message.count, witness};
  return std::nullopt;
}

std::optional<Contradiction> GenerationContent::place_offset(Offset offset, OpRef witness) {
  auto [at, is_new] = boundaries_.emplace(offset.messages, Boundary{offset.bytes, witness});
  auto wrong = [&](const Boundary& other, uint64_t messages, std::string_view rule) {
    return Contradiction{Invariant::kNothingTwice,
                         "offset " + std::to_string(offset.messages) + "_" +
                             std::to_string(offset.bytes) + " by " + history_.describe(witness) +
                             ", but " + std::to_string(messages) + "_" +
                             std::to_string(other.bytes) + " by " +
                             history_.describe(other.witness) + ": " + std::string(rule)};
  };
  if (!is_new) {
    if (at->second.bytes == offset.bytes) return std::nullopt;
    return wrong(at->second, offset.messages, "one message count has one byte position");
  }
  if (at != boundaries_.begin()) {
    auto below = std::prev(at);
    if (below->second.bytes >= offset.bytes) {
      return wrong(below->second, below->first, "a later offset has more bytes before it");
    }
  }
  if (auto above = std::next(at); above != boundaries_.end()) {
    if (above->second.bytes <= offset.bytes) {
      return wrong(above->second, above->first, "an earlier offset has fewer bytes before it");
    }
  }
  return std::nullopt;
}

std::optional<uint64_t> GenerationContent::find(RecordId record) const {
  auto at = first_.find(record);
  if (at == first_.end()) return std::nullopt;
  return at->second;
}

}  // namespace morula::invariants
