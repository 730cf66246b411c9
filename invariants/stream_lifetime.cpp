// The part of StreamHistory that knows how long streams live, and how `Stream-Seq` grows.
//
// A TTL counts from the last read or append that was done; what was persisted ahead may keep a
// stream an eighth of it longer. Times are those of the instances' wall clocks, of which the worst
// that was possible counts: see WallClocks.
#include <algorithm>

#include "invariants/stream_history.hpp"

namespace morula::invariants {

namespace {

WallTime after(WallTime time, int64_t ms) {
  return WallTime{time.ms + ms};
}

bool is_open(const Op& op) {
  return op.response.outcome == Outcome::kPending || op.response.outcome == Outcome::kUnknown;
}

}  // namespace

StreamHistory::Renewal StreamHistory::renewal_of(const Op& op) {
  const Response& response = op.response;
  const bool done = response.outcome == Outcome::kOk;
  switch (op.request.kind) {
    case OpKind::kCreate:
      if (is_open(op)) return Renewal::kAtAnyTime;
      return done && !response.existed ? Renewal::kDone : Renewal::kNone;
    case OpKind::kAppend:
      if (is_open(op)) return Renewal::kAtAnyTime;
      return done ? Renewal::kDone : Renewal::kNone;
    case OpKind::kRead: {
      if (done) return Renewal::kDone;
      const bool nowhere =
          response.outcome == Outcome::kRefused && (response.status == 0 || response.status == 307);
      if (nowhere) return Renewal::kNone;
      // It may have come in time, and been answered when even what it had renewed was over.
      if (response.outcome == Outcome::kAbsent) return Renewal::kBeforeItsAnswer;
      // Turned down for its offset: it has been there all the same.
      return response.bad_offset ? Renewal::kDone : Renewal::kAtAnyTime;
    }
    case OpKind::kHead:
    case OpKind::kListed:
    case OpKind::kDelete:
      return Renewal::kNone;
  }
  return Renewal::kNone;
}

std::optional<StreamHistory::Lifetime> StreamHistory::lifetime_of(uint64_t generation) const {
  std::optional<Lifetime> lifetime;
  const auto add = [&](const Request& request) {
    if (!request.ttl_seconds && !request.expires_at) return;
    if (!lifetime) lifetime.emplace();
    if (request.ttl_seconds) lifetime->ttl_ms = static_cast<int64_t>(*request.ttl_seconds) * 1000;
    if (!request.expires_at) return;
    lifetime->first_end =
        std::min(lifetime->first_end.value_or(*request.expires_at), *request.expires_at);
    lifetime->last_end =
        std::max(lifetime->last_end.value_or(*request.expires_at), *request.expires_at);
  };
  for (const Entry& entry : entries_) {
    const Op& op = history_.op(entry.op);
    if (op.request.kind != OpKind::kCreate || op.response.existed) continue;
    if (op.response.outcome == Outcome::kOk && op.response.generation == generation) {
      lifetime.reset();
      add(op.request);
      return lifetime;
    }
    if (is_open(op)) add(op.request);
  }
  return lifetime;
}

bool StreamHistory::may_have_expired(const Gap& gap) const {
  const auto lifetime = lifetime_of(gap.generation);
  if (!lifetime) return false;
  if (!walls_.known()) return true;
  const WallTime reached = walls_.highest(history_.op(gap.first_out_by).ended_at);
  if (lifetime->first_end) return reached >= *lifetime->first_end;
  for (const Entry& entry : entries_) {
    const Op& op = history_.op(entry.op);
    if (renewal_of(op) != Renewal::kDone || generation_of(op) != gap.generation) continue;
    const WallTime renewed = walls_.lowest(op.began_at, op.ended_at);
    if (reached < after(renewed, lifetime->ttl_ms)) return false;
  }
  return true;
}

void StreamHistory::check_lifetimes(const std::vector<Gap>& gaps, Duration now) {
  if (!walls_.known()) return;
  uint64_t any_time_from = UINT64_MAX;  // from here on a renewal may happen that nobody is told of
  for (const Entry& entry : entries_) {
    const Op& op = history_.op(entry.op);
    if (renewal_of(op) == Renewal::kAtAnyTime) any_time_from = std::min(any_time_from, op.began);
  }
  for (const Gap& gap : gaps) {
    const auto lifetime = lifetime_of(gap.generation);
    if (lifetime) check_end(gap.generation, *lifetime, any_time_from, now);
  }
}

void StreamHistory::check_end(uint64_t generation, const Lifetime& lifetime, uint64_t any_time_from,
                              Duration now) {
  std::vector<OpRef> renewals;
  std::vector<OpRef> shown;
  for (const Entry& entry : entries_) {
    const Op& op = history_.op(entry.op);
    const bool is_of_it = generation_of(op) == generation;
    const Renewal renewal = renewal_of(op);
    if ((renewal == Renewal::kDone && (is_of_it || op.response.bad_offset)) ||
        renewal == Renewal::kBeforeItsAnswer) {
      renewals.push_back(entry.op);
    }
    const bool made_it = op.request.kind == OpKind::kCreate && !op.response.existed;
    if (is_of_it && op.response.outcome == Outcome::kOk && !made_it) shown.push_back(entry.op);
  }
  for (const OpRef ref : shown) {
    const Op& op = history_.op(ref);
    if (op.ended > any_time_from) continue;
    std::optional<WallTime> end = lifetime.last_end;
    for (const OpRef renewal : renewals) {
      const Op& before = history_.op(renewal);
      if (lifetime.last_end || renewal == ref || before.began > op.ended) continue;
      // Once it was answered, what it had renewed was over.
      if (before.response.outcome == Outcome::kAbsent && before.ended < op.began) continue;
      const WallTime latest = walls_.highest(std::min(before.ended_at, op.ended_at));
      const WallTime kept = after(latest, lifetime.ttl_ms + lifetime.ttl_ms / 8);
      end = std::max(end.value_or(kept), kept);
    }
    if (!end || walls_.lowest(op.began_at, op.ended_at) < *end) continue;
    report(Invariant::kExpiry, now,
           history_.describe(ref) + " shows the stream, whose time was over at " +
               std::to_string(end->ms) + " ms, when no wall clock showed less than " +
               std::to_string(walls_.lowest(op.began_at, op.ended_at).ms) + " ms");
  }
}

// ---- Stream-Seq ----

void StreamHistory::check_sequences(const GenerationContent& known, Duration now) {
  RecordId previous;
  const Request* last = nullptr;
  for (const Slot& slot : known.slots()) {
    if (!slot.known() || slot.record == previous) continue;
    previous = slot.record;
    const auto attempts = attempts_.find(slot.record);
    if (attempts == attempts_.end()) continue;
    const Request& request = history_.op(attempts->second.front()).request;
    if (!request.sequence) continue;
    if (last != nullptr && *request.sequence <= *last->sequence) {
      report(Invariant::kLinearizable, now,
             "generation " + std::to_string(known.generation()) + ": record " +
                 to_string(slot.record) + " with Stream-Seq " + *request.sequence +
                 " follows record " + to_string(last->record) + " with " + *last->sequence);
    }
    last = &request;
  }
}

void StreamHistory::check_regressions(Duration now) {
  for (const Entry& entry : entries_) {
    const Op& refused = history_.op(entry.op);
    if (refused.response.code != "sequence_regression") continue;
    const bool deserved = std::ranges::any_of(entries_, [&](const Entry& other) {
      const Op& op = history_.op(other.op);
      return op.request.sequence && *op.request.sequence >= *refused.request.sequence &&
             other.op != entry.op && op.began < refused.ended &&
             (is_open(op) || op.response.outcome == Outcome::kOk);
    });
    if (deserved) continue;
    report(Invariant::kLinearizable, now,
           history_.describe(entry.op) +
               " was refused, but nobody has sent a Stream-Seq as high as " +
               *refused.request.sequence);
  }
}

}  // namespace morula::invariants
