// The part of StreamHistory that needs the whole history.
#include <algorithm>
#include <functional>
#include <utility>

#include "invariants/matching.hpp"
#include "invariants/stream_history.hpp"

namespace morula::invariants {

void StreamHistory::finish(Duration now) {
  // An append that was acknowledged without its generation is known by now if anybody saw it.
  for (const Entry& entry : entries_) {
    const Op& op = history_.op(entry.op);
    if (op.request.kind == OpKind::kAppend && !op.response.generation) learn(entry.op);
  }
  std::vector<Gap> gaps = check_order(now);
  check_deletes(gaps, now);
  check_lifetimes(gaps, now);
  check_creators(gaps, now);
  check_records(now);
  for (const auto& [generation, known] : generations_) {
    check_producers(known, now);
    check_sequences(known, now);
  }
  check_regressions(now);
  check_holes(now);
}

std::vector<StreamHistory::Gap> StreamHistory::check_order(Duration now) {
  struct Event {
    uint64_t order;
    size_t entry;
    bool ends;
  };
  std::vector<Event> events;
  for (size_t i = 0; i < entries_.size(); ++i) {
    const Op& op = history_.op(entries_[i].op);
    events.push_back({op.began, i, false});
    if (!op.pending()) events.push_back({op.ended, i, true});
  }
  std::sort(events.begin(), events.end(),
            [](const Event& a, const Event& b) { return a.order < b.order; });
  std::vector<Gap> gaps;
  gaps.reserve(generations_.size());
  for (const auto& [generation, known] : generations_) gaps.push_back({.generation = generation});

  Floor floor;
  for (const Event& event : events) {
    Entry& entry = entries_[event.entry];
    const Op& op = history_.op(entry.op);
    if (!event.ends) {
      entry.floor = floor.at;
      entry.floor_by = floor.by;
      check_unanswered(entry.op, floor, now);
      continue;
    }
    std::optional<Bounds> known = bounds(entry.op, entry.floor);
    if (!known) continue;
    check_floor(entry.op, *known, {entry.floor, entry.floor_by}, now);
    if (known->at_end > floor.at) floor = {known->at_end, entry.op};
    for (Gap& gap : gaps) {
      Position gone{gap.generation, Position::kGone};
      if (known->at_end >= Position{gap.generation, 0} && op.ended < gap.first_in) {
        gap.first_in = op.ended;
      }
      if (known->at_begin < gone && op.began > gap.last_in && op.response.outcome == Outcome::kOk) {
        gap.last_in = op.began;
        gap.last_in_by = entry.op;
      }
      if (known->at_end >= gone && op.ended < gap.first_out) {
        gap.first_out = op.ended;
        gap.first_out_by = entry.op;
      }
    }
  }
  return gaps;
}

void StreamHistory::check_unanswered(OpRef ref, const Floor& floor, Duration now) {
  const Op& op = history_.op(ref);
  bool unanswered =
      op.response.outcome == Outcome::kPending || op.response.outcome == Outcome::kUnknown;
  if (!unanswered || op.request.messages == 0) return;
  // A later attempt may have done it; but none lies where the stream was past it even before the
  // first.
  if (attempts_.at(op.request.record).front() != ref) return;
  for (const auto& [generation, known] : generations_) {
    std::optional<uint64_t> first = known.find(op.request.record);
    if (!first) continue;
    Position before{generation, *first};
    check_floor(ref, {before, before}, floor, now);
  }
}

void StreamHistory::check_deletes(const std::vector<Gap>& gaps, Duration now) {
  std::vector<OpRef> deletes;  // that may have happened
  std::vector<OpRef> hidden;   // creates whose generation nobody may have seen
  for (const Entry& entry : entries_) {
    const Op& op = history_.op(entry.op);
    Outcome outcome = op.response.outcome;
    bool unanswered = outcome == Outcome::kPending || outcome == Outcome::kUnknown;
    bool done = outcome == Outcome::kOk;
    if (op.request.kind == OpKind::kDelete && (done || unanswered)) deletes.push_back(entry.op);
    if (op.request.kind == OpKind::kCreate && (unanswered || (done && !op.response.generation))) {
      hidden.push_back(entry.op);
    }
  }
  auto ends_by = [&](OpRef ref) {
    const Op& op = history_.op(ref);
    return op.response.outcome == Outcome::kOk ? op.ended : UINT64_MAX;
  };
  auto can_end = [&](OpRef ref, const Gap& gap) {
    const Op& op = history_.op(ref);
    if (op.response.generation && *op.response.generation != gap.generation) return false;
    return op.began < gap.first_out && ends_by(ref) > gap.last_in;
  };
  auto list_deletes = [&] {
    std::string out = deletes.empty() ? "there was none" : "there were only:";
    for (OpRef ref : deletes) out += "\n    " + history_.describe(ref);
    return out;
  };

  std::vector<Gap> left;
  for (const Gap& gap : gaps) {
    if (gap.first_out != UINT64_MAX && !may_have_expired(gap)) left.push_back(gap);
  }
  Matching by_gap(left.size(), deletes.size(),
                  [&](size_t gap, size_t del) { return can_end(deletes[del], left[gap]); });
  for (size_t gap : by_gap.unmatched()) {
    const bool mortal = lifetime_of(left[gap].generation).has_value();
    const bool final = history_.op(left[gap].first_out_by).request.final;
    const Invariant invariant = mortal  ? Invariant::kExpiry
                                : final ? Invariant::kNothingLost
                                        : Invariant::kLinearizable;
    report(invariant, now,
           "generation " + std::to_string(left[gap].generation) + " was gone by " +
               history_.describe(left[gap].first_out_by) + ", " +
               (mortal ? "its time was not over, " : "") +
               "and no delete of its own can have done that; " + list_deletes());
  }

  std::vector<OpRef> acknowledged;
  for (OpRef ref : deletes) {
    if (history_.op(ref).response.outcome == Outcome::kOk) acknowledged.push_back(ref);
  }
  Matching by_delete(acknowledged.size(), gaps.size() + hidden.size(),
                     [&](size_t del, size_t slot) {
                       if (slot < gaps.size()) return can_end(acknowledged[del], gaps[slot]);
                       return can_hide(gaps, history_.op(hidden[slot - gaps.size()]),
                                       history_.op(acknowledged[del]));
                     });
  for (size_t del : by_delete.unmatched()) {
    std::string what = history_.describe(acknowledged[del]) +
                       " was acknowledged, but no generation can have ended by it:";
    for (const Gap& gap : gaps) {
      what += "\n    generation " + std::to_string(gap.generation);
      if (gap.last_in_by != kNoOp) what += ", still there for " + history_.describe(gap.last_in_by);
    }
    report(Invariant::kLinearizable, now, what);
  }
}

bool StreamHistory::can_hide(const std::vector<Gap>& gaps, const Op& create, const Op& del) const {
  for (size_t i = 0; i <= gaps.size(); ++i) {
    uint64_t from = i == 0 ? 0 : gaps[i - 1].last_in;
    uint64_t to = i == gaps.size() ? UINT64_MAX : gaps[i].first_in;
    if (create.began < std::min(to, del.ended) && del.began < to && del.ended > from) return true;
  }
  return false;
}

void StreamHistory::check_creators(const std::vector<Gap>& gaps, Duration now) {
  std::map<uint64_t, OpRef> creator;
  std::vector<OpRef> unanswered;
  for (const Entry& entry : entries_) {
    const Op& op = history_.op(entry.op);
    if (op.request.kind != OpKind::kCreate) continue;
    bool made = op.response.outcome == Outcome::kOk && !op.response.existed;
    bool open =
        op.response.outcome == Outcome::kPending || op.response.outcome == Outcome::kUnknown;
    if (open || (made && !op.response.generation)) unanswered.push_back(entry.op);
    if (!made || !op.response.generation) continue;
    auto [known, is_new] = creator.emplace(*op.response.generation, entry.op);
    if (!is_new) {
      report(Invariant::kLinearizable, now,
             "generation " + std::to_string(*op.response.generation) + " was created twice: " +
                 history_.describe(known->second) + "\n    and " + history_.describe(entry.op));
    }
  }
  std::vector<uint64_t> without;
  for (const Gap& gap : gaps) {
    if (!creator.contains(gap.generation)) without.push_back(gap.generation);
  }
  Matching matching(without.size(), unanswered.size(), [](size_t, size_t) { return true; });
  for (size_t i : matching.unmatched()) {
    report(
        Invariant::kLinearizable, now,
        "generation " + std::to_string(without[i]) + " was seen, but nobody can have created it");
  }
}

void StreamHistory::check_records(Duration now) {
  for (const auto& [record, attempts] : attempts_) {
    std::vector<uint64_t> seen_in;
    for (const auto& [generation, known] : generations_) {
      if (known.find(record)) seen_in.push_back(generation);
    }
    size_t effects = 0;
    for (OpRef attempt : attempts) {
      const Op& op = history_.op(attempt);
      Outcome outcome = op.response.outcome;
      bool made = outcome == Outcome::kOk && !op.response.duplicate && !op.response.existed;
      effects += made || outcome == Outcome::kPending || outcome == Outcome::kUnknown ? 1 : 0;
    }
    if (seen_in.size() <= std::max<size_t>(effects, 1)) continue;
    report(Invariant::kNothingTwice, now,
           "record " + to_string(record) + " is in generations " + std::to_string(seen_in[0]) +
               " and " + std::to_string(seen_in[1]) +
               ", but was sent so: " + history_.describe(attempts.front()));
  }
}

/// Places that nobody has seen hold what was sent without an answer; there is no more than that.
void StreamHistory::check_holes(Duration now) {
  uint64_t unseen = 0;  // messages that may lie anywhere
  for (const auto& [record, attempts] : attempts_) {
    for (OpRef attempt : attempts) {
      const Op& op = history_.op(attempt);
      Outcome outcome = op.response.outcome;
      bool may =
          outcome == Outcome::kPending || outcome == Outcome::kUnknown || op.response.duplicate;
      if (may) unseen += op.request.messages;
    }
  }
  for (const auto& [generation, known] : generations_) {
    auto holes =
        static_cast<uint64_t>(std::count_if(known.slots().begin(), known.slots().end(),
                                            [](const Slot& slot) { return !slot.known(); }));
    if (holes <= unseen) continue;
    report(Invariant::kNothingTwice, now,
           "generation " + std::to_string(generation) + " has " + std::to_string(holes) +
               " messages that nobody has seen below message " + std::to_string(known.known_end()) +
               ", but only " + std::to_string(unseen) + " were sent without an answer");
  }
}

void StreamHistory::check_producers(const GenerationContent& known, Duration now) {
  struct Last {
    uint64_t epoch = 0;
    uint64_t seq = 0;
    RecordId record;
  };
  std::map<std::string, Last> last;
  RecordId previous;
  bool complete = true;  // no hole so far: a missing seq is missing indeed
  for (const Slot& slot : known.slots()) {
    complete &= slot.known();
    if (!slot.known() || slot.record == previous) continue;
    previous = slot.record;
    auto attempts = attempts_.find(slot.record);
    if (attempts == attempts_.end()) continue;
    const std::optional<ProducerStamp>& stamp =
        history_.op(attempts->second.front()).request.producer;
    if (!stamp) continue;
    auto [before, is_first] = last.try_emplace(stamp->id, Last{stamp->epoch, stamp->seq, previous});
    bool new_epoch = is_first || stamp->epoch > before->second.epoch;
    bool follows =
        new_epoch ? stamp->seq == 0
                  : stamp->epoch == before->second.epoch && stamp->seq == before->second.seq + 1;
    if (complete && !follows) {
      report(Invariant::kNothingTwice, now,
             "generation " + std::to_string(known.generation()) + ": producer " + stamp->id +
                 "'s record " + to_string(slot.record) + " (epoch " + std::to_string(stamp->epoch) +
                 " seq " + std::to_string(stamp->seq) + ") follows " +
                 (is_first ? "nothing"
                           : "its record " + to_string(before->second.record) + " (epoch " +
                                 std::to_string(before->second.epoch) + " seq " +
                                 std::to_string(before->second.seq) + ")"));
    }
    before->second = {stamp->epoch, stamp->seq, slot.record};
  }
}

}  // namespace morula::invariants
