#include "invariants/acknowledgements.hpp"

#include <charconv>

#include "core/log/log_object.hpp"
#include "core/store/keys.hpp"

namespace morula::invariants {

namespace {

/// 32 hex digits.
std::optional<StreamId> parse_stream(std::string_view hex) {
  StreamId id;
  auto half = [&](size_t at, uint64_t& out) {
    const char* begin = hex.data() + at;
    auto [end, error] = std::from_chars(begin, begin + 16, out, 16);
    return error == std::errc() && end == begin + 16;
  };
  if (hex.size() != 32 || !half(0, id.high) || !half(16, id.low)) return std::nullopt;
  return id;
}

}  // namespace

void Acknowledgements::step(const StepEvent& event, Duration now) {
  bool of_interest =
      event.step == Step::kAppend || event.step == Step::kAcknowledge || event.step == Step::kFence;
  if (!of_interest) return;
  const IncarnationId* actor = names_.parse(event.actor);
  if (actor == nullptr) return;
  switch (event.step) {
    case Step::kAppend:
      return Append(*actor, event, now);
    case Step::kAcknowledge:
      return Acknowledge(*actor, LogSeq(event.position), now);
    case Step::kFence:
      return Fence(event, now);
    default:
      return;
  }
}

void Acknowledgements::Append(const IncarnationId& actor, const StepEvent& event, Duration now) {
  Log& log = logs_[actor];
  auto stream = parse_stream(event.subject);
  if (!stream) return;
  LogSeq seq(event.position);
  if (seq < log.acknowledged || (!log.pending.empty() && seq < log.pending.back().seq)) {
    violations_.report(Invariant::kOwnershipRule, now,
                       actor.text() + " appends to seq " + std::to_string(seq.value) +
                           " of its log, which it has passed (acknowledged: " +
                           std::to_string(log.acknowledged.value) + ")");
    return;
  }
  log.pending.push_back({*stream, seq});
}

void Acknowledgements::Acknowledge(const IncarnationId& actor, LogSeq position, Duration now) {
  Log& log = logs_[actor];
  if (log.fence && position > *log.fence) {
    violations_.report(Invariant::kOneAcknowledger, now,
                       actor.text() + " acknowledges its log up to " +
                           std::to_string(position.value) + ", but " + log.fenced_by +
                           " had fenced it at " + std::to_string(log.fence->value) + " at " +
                           time_text(log.fenced_at) + ": nothing at or above a fence counts (R9)");
  }
  if (position < log.acknowledged) {
    violations_.report(Invariant::kOwnershipRule, now,
                       actor.text() + "'s acknowledged position goes back from " +
                           std::to_string(log.acknowledged.value) + " to " +
                           std::to_string(position.value));
    return;
  }
  check_landed(actor, log.acknowledged, position, now);
  log.acknowledged = position;
  log.acknowledged_at = now;
  reachable_.acknowledged(actor, position);
  while (!log.pending.empty() && log.pending.front().seq < position) {
    check_named(actor, log.pending.front(), now);
    reads_.acknowledged(log.pending.front().stream, actor, now);
    log.pending.pop_front();
  }
}

void Acknowledgements::check_landed(const IncarnationId& actor, LogSeq from, LogSeq to,
                                    Duration now) {
  for (LogSeq seq = from; seq < to; ++seq) {
    const std::string* body = objects_.find(keys::log_object(actor, seq));
    std::string wrong;
    if (body == nullptr) {
      // It was below the fence, and its records are in tables by now.
      if (reachable_.was_collected(actor, seq)) continue;
      wrong = "is not in the bucket";
    } else if (auto object = decode_log_object(*body); !object) {
      wrong = "is damaged: " + object.error().message;
    } else if (object->is_fence) {
      wrong = "is a FENCE by " + object->writer.text();
    }
    if (wrong.empty()) continue;
    violations_.report(Invariant::kOwnershipRule, now,
                       actor.text() + " acknowledges its log up to " + std::to_string(to.value) +
                           ", but its object " + std::to_string(seq.value) + " " + wrong +
                           ": a batch is acknowledged when it and all below it have landed (R1)");
    return;
  }
}

void Acknowledgements::check_named(const IncarnationId& actor, const Appended& appended,
                                   Duration now) {
  if (reachable_.topology() == nullptr) return;
  if (reachable_.names(appended.stream, actor, appended.seq)) return;
  bool is_owner = reachable_.topology()->shard_of(appended.stream).owner == actor;
  violations_.report(is_owner ? Invariant::kNothingDangling : Invariant::kOneAcknowledger, now,
                     actor.text() + " acknowledges a record of stream id " +
                         std::to_string(appended.stream.high) + "/" +
                         std::to_string(appended.stream.low) + " at seq " +
                         std::to_string(appended.seq.value) + " of its log, but " +
                         reachable_.describe(appended.stream) + ": nobody will find it (D)");
}

void Acknowledgements::Fence(const StepEvent& event, Duration now) {
  const IncarnationId* victim = names_.parse(event.subject);
  if (victim == nullptr) return;
  Log& log = logs_[*victim];
  LogSeq fence(event.position);
  reachable_.fenced(*victim, fence, event.actor, now);
  if (!log.fence || fence < *log.fence) {
    log.fence = fence;
    log.fenced_by = event.actor;
    log.fenced_at = now;
  }
  if (log.acknowledged > fence) {
    violations_.report(Invariant::kOneAcknowledger, now,
                       std::string(event.actor) + " takes the log of " + victim->text() +
                           " for fenced at " + std::to_string(fence.value) + ", but it had " +
                           "acknowledged up to " + std::to_string(log.acknowledged.value) + " at " +
                           time_text(log.acknowledged_at) + " (F)");
  }
}

}  // namespace morula::invariants
