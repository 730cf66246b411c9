#include "invariants/stream_history.hpp"

#include <algorithm>
#include <utility>

#include "core/base/check.hpp"

namespace morula::invariants {

namespace {

std::string words(Position position) {
  if (position.generation == 0) return "not yet created";
  std::string out = "generation " + std::to_string(position.generation);
  if (position.gone()) return out + " deleted";
  return out + " with " + std::to_string(position.messages) + " messages";
}

}  // namespace

void StreamHistory::begin(OpRef ref) {
  const Op& op = history_.op(ref);
  if (op.request.messages > 0) attempts_[op.request.record].push_back(ref);
  open_.emplace(ref, entries_.size());
  entries_.push_back({ref, floor_.at, floor_.by});
}

void StreamHistory::end(OpRef ref) {
  auto open = open_.find(ref);
  MORULA_CHECK(open != open_.end(), "an operation that began here ends here");
  const Entry entry = entries_[open->second];
  open_.erase(open);
  const Op& op = history_.op(ref);
  learn(ref);
  std::optional<Bounds> known = bounds(ref, entry.floor);
  if (!known) return;
  check_floor(ref, *known, {entry.floor, entry.floor_by}, op.ended_at);
  if (known->at_end > floor_.at) floor_ = {known->at_end, ref};
}

// ---- content ----

GenerationContent& StreamHistory::content(uint64_t generation) {
  return generations_.try_emplace(generation, history_, generation).first->second;
}

void StreamHistory::learn(OpRef ref) {
  const Op& op = history_.op(ref);
  const Response& response = op.response;
  if (response.offset_mismatch && op.request.expected &&
      response.next == op.request.expected->offset) {
    report(Invariant::kLinearizable, op.ended_at,
           history_.describe(ref) + " was refused although that is the tail");
  }
  if (response.outcome != Outcome::kOk) return;
  if (op.request.kind == OpKind::kRead) learn_read(ref);
  std::optional<uint64_t> generation = generation_of(op);
  if (!generation) return;
  GenerationContent& known = content(*generation);
  if (response.next) {
    report(known.place_offset(*response.next, ref), op.ended_at);
  }
  bool wrote = op.request.kind == OpKind::kAppend ||
               (op.request.kind == OpKind::kCreate && !response.existed);
  if (wrote && op.request.messages > 0) learn_append(ref, *generation);
}

void StreamHistory::learn_append(OpRef ref, uint64_t generation) {
  const Op& op = history_.op(ref);
  const Response& response = op.response;
  // A duplicate's offset is that of the producer's last append: this one only if it is the last.
  bool other = response.duplicate && (!op.request.producer || !response.highest_seq ||
                                      *response.highest_seq != op.request.producer->seq);
  if (!response.next || other) return;
  uint64_t end = response.next->messages;
  if (end < op.request.messages) {
    report(
        Invariant::kNothingTwice, op.ended_at,
        history_.describe(ref) + " was acknowledged with an offset of fewer messages than it has");
    return;
  }
  std::vector<Message> messages(op.request.messages);
  for (uint32_t i = 0; i < op.request.messages; ++i) {
    messages[i] = {op.request.record, i, op.request.messages, op.request.message_bytes};
  }
  GenerationContent& known = content(generation);
  uint64_t bytes = op.request.messages * op.request.message_bytes;
  Offset start{end - op.request.messages, response.next->bytes - bytes};
  report(known.place_offset(start, ref), op.ended_at);
  if (op.request.expected && op.request.expected->offset != start && !response.duplicate) {
    report(Invariant::kLinearizable, op.ended_at,
           history_.describe(ref) + " was to happen at its offset only, but was put at " +
               std::to_string(start.messages));
  }
  place_messages(known, start.messages, messages, ref);
}

void StreamHistory::learn_read(OpRef ref) {
  const Op& op = history_.op(ref);
  const Response& response = op.response;
  if (!op.bad_body.empty()) {
    report(Invariant::kNothingLost, op.ended_at,
           "the bytes that " + history_.describe(ref) + " showed are damaged: " + op.bad_body);
  }
  if (!response.next || !response.generation) {
    report(Invariant::kLinearizable, op.ended_at,
           history_.describe(ref) + " does not say where it ends, or of which generation it is");
    return;
  }
  uint64_t end = response.next->messages;
  uint64_t count = op.messages.size();
  GenerationContent& known = content(*response.generation);
  std::optional<uint64_t> start;
  if (!op.request.from && !op.request.at_tail) start = 0;
  if (op.request.from && op.request.from->generation == response.generation) {
    start = op.request.from->offset.messages;
    report(known.place_offset(op.request.from->offset, ref), op.ended_at);
  }
  if (op.request.at_tail) start = end;
  if (count > end || (start && op.bad_body.empty() && *start + count != end)) {
    report(Invariant::kLinearizable, op.ended_at,
           history_.describe(ref) + " shows " + std::to_string(count) + " messages up to message " +
               std::to_string(end) + (start ? ", but began at " + std::to_string(*start) : ""));
    return;
  }
  if (count == 0 && !response.up_to_date && !op.request.at_tail) {
    report(Invariant::kLinearizable, op.ended_at,
           history_.describe(ref) + " shows nothing, and does not say that this is the tail");
  }
  if (count > 0 && op.messages.back().index + 1 != op.messages.back().count) {
    report(Invariant::kLinearizable, op.ended_at,
           history_.describe(ref) + " ends within record " + to_string(op.messages.back().record) +
               ": an append is shown whole or not at all");
  }
  if (!op.bad_body.empty()) return;
  Offset at = *response.next;
  for (auto message = op.messages.rbegin(); message != op.messages.rend(); ++message) {
    at.bytes -= message->length;
    --at.messages;
  }
  report(known.place_offset(at, ref), op.ended_at);
  place_messages(known, end - count, op.messages, ref);
}

void StreamHistory::place_messages(GenerationContent& known, uint64_t first,
                                   const std::vector<Message>& messages, OpRef ref) {
  for (size_t i = 0; i < messages.size(); ++i) {
    uint64_t at = first + i;
    bool is_new = at >= known.known_end() || !known.slots()[at].known();
    auto contradiction = known.place(at, messages[i], ref);
    if (contradiction) {
      contradiction->what =
          "in generation " + std::to_string(known.generation()) + " " + contradiction->what;
      report(contradiction, history_.op(ref).ended_at);
      return;  // what follows is shifted as well
    }
    if (is_new) check_known_record(messages[i], ref);
  }
}

void StreamHistory::check_known_record(const Message& message, OpRef ref) {
  auto sent = attempts_.find(message.record);
  Duration now = history_.op(ref).ended_at;
  if (sent == attempts_.end()) {
    OpRef elsewhere = history_.first_attempt(message.record);
    report(
        Invariant::kNothingLost, now,
        history_.describe(ref) + " shows record " + to_string(message.record) +
            ", which nobody has sent to this stream" +
            (elsewhere == kNoOp ? "" : "; it was sent to " + history_.op(elsewhere).request.path));
    return;
  }
  bool all_refused = true;
  for (OpRef attempt : sent->second) {
    Outcome outcome = history_.op(attempt).response.outcome;
    all_refused &= outcome == Outcome::kRefused || outcome == Outcome::kAbsent;
  }
  if (all_refused) {
    report(Invariant::kLinearizable, now,
           history_.describe(ref) + " shows record " + to_string(message.record) +
               ", but what sent it was refused: " + history_.describe(sent->second.back()));
  }
}

std::optional<uint64_t> StreamHistory::generation_of(const Op& op) const {
  if (op.response.generation || op.request.kind != OpKind::kAppend) return op.response.generation;
  for (const auto& [generation, known] : generations_) {
    std::optional<uint64_t> first = known.find(op.request.record);
    if (first && op.response.next && *first + op.request.messages == op.response.next->messages) {
      return generation;
    }
  }
  return std::nullopt;
}

// ---- order ----

std::optional<StreamHistory::Bounds> StreamHistory::bounds(OpRef ref, Position floor) const {
  const Op& op = history_.op(ref);
  const Response& response = op.response;
  switch (response.outcome) {
    case Outcome::kPending:
    case Outcome::kUnknown:
      return std::nullopt;
    case Outcome::kAbsent: {
      // The leftmost state without a stream that may still have been.
      Position gone{floor.generation, Position::kGone};
      return Bounds{gone, gone};
    }
    case Outcome::kRefused:
      break;
    case Outcome::kOk:
      return bounds_of_ok(op);
  }
  if (response.offset_mismatch && response.next && response.generation) {
    Position tail{*response.generation, response.next->messages};
    return Bounds{tail, tail};
  }
  if (response.bad_offset && op.request.from && op.request.from->generation) {
    // An offset of a generation is one for as long as that lives.
    return Bounds{{UINT64_MAX, Position::kGone}, {*op.request.from->generation, Position::kGone}};
  }
  return std::nullopt;
}

std::optional<StreamHistory::Bounds> StreamHistory::bounds_of_ok(const Op& op) const {
  const Response& response = op.response;
  std::optional<uint64_t> generation = generation_of(op);
  if (!generation) return std::nullopt;
  Position last{*generation, Position::kGone - 1};
  Position tail =
      response.next ? Position{*generation, response.next->messages} : Position{*generation, 0};
  switch (op.request.kind) {
    case OpKind::kCreate:
      if (response.existed) return response.next ? Bounds{tail, tail} : Bounds{last, tail};
      return Bounds{{*generation - 1, Position::kGone}, tail};
    case OpKind::kAppend:
      return bounds_of_append(op);
    case OpKind::kRead:
      return response.up_to_date || op.request.at_tail ? Bounds{tail, tail} : Bounds{last, tail};
    case OpKind::kHead:
    case OpKind::kListed:
      return response.next ? Bounds{tail, tail} : Bounds{last, tail};
    case OpKind::kDelete:
      return Bounds{last, {*generation, Position::kGone}};
  }
  return std::nullopt;
}

std::optional<StreamHistory::Bounds> StreamHistory::bounds_of_append(const Op& op) const {
  uint64_t generation = *generation_of(op);
  Position last{generation, Position::kGone - 1};
  if (!op.response.next) return Bounds{last, {generation, op.request.messages}};
  Position after{generation, op.response.next->messages};
  if (op.response.duplicate) return Bounds{last, after};
  uint64_t before = after.messages - std::min<uint64_t>(after.messages, op.request.messages);
  return Bounds{{generation, before}, after};
}

void StreamHistory::check_floor(OpRef ref, const Bounds& known, const Floor& floor, Duration now) {
  if (floor.at <= known.at_begin) return;
  const Op& op = history_.op(ref);
  Invariant invariant = Invariant::kLinearizable;
  if (floor.by != kNoOp && op.request.final && history_.op(floor.by).request.messages > 0) {
    invariant = Invariant::kNothingLost;
  } else if (op.request.kind == OpKind::kAppend && op.response.outcome == Outcome::kOk &&
             known.at_begin.generation == floor.at.generation && !floor.at.gone()) {
    invariant = Invariant::kNothingTwice;
  }
  std::string what = history_.describe(ref) + " can only be right if the stream was at most " +
                     words(known.at_begin) + " when it began; but it was at least " +
                     words(floor.at) + " by then";
  if (floor.by != kNoOp) what += ", as " + history_.describe(floor.by) + " had shown";
  report(invariant, now, what);
}

void StreamHistory::report(Invariant invariant, Duration at, std::string message) {
  message.insert(0, "stream " + path_ + ": ");
  if (reported_.insert(message).second) violations_.report(invariant, at, std::move(message));
}

void StreamHistory::report(const std::optional<Contradiction>& contradiction, Duration at) {
  if (contradiction) report(contradiction->invariant, at, contradiction->what);
}

}  // namespace morula::invariants
