#include "core/log/fence.hpp"

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/base/check.hpp"
#include "core/base/mutant.hpp"
#include "core/rt/fiber.hpp"
#include "core/rt/random.hpp"
#include "core/rt/sync.hpp"
#include "core/rt/trace.hpp"
#include "core/store/backoff.hpp"
#include "core/store/keys.hpp"

namespace morula {

namespace {

// Far above what a log reaches, and far enough from the type's end for sums with a window.
constexpr uint64_t kSeqMax = UINT64_MAX / 4;
// Of one object that each shows other bytes that do not decode.
constexpr int kDamagedReadsMax = 16;
// Objects of at most some MiB each that replay reads ahead.
constexpr size_t kReadAhead = 8;

tl::unexpected<Error> damaged(std::string_view key, const std::string& what) {
  return fail(ErrorCode::kCorrupt, std::string(key) + ": " + what);
}

/// What one LIST of a log shows, as far as R3a needs it.
class LogSurvey {
 public:
  explicit LogSurvey(uint64_t window) : window_(window) {}

  /// Objects come in the order of their seqs.
  Result<> add(const ObjectInfo& object) {
    auto seq = keys::log_seq(object.key);
    if (!seq) return fail(std::move(seq).error());
    if (seq->value > kSeqMax || object.size < kLogFenceBytes) {
      return damaged(object.key, "not an object of a log; see what put it there");
    }
    highest_ = *seq;
    if (object.size == kLogFenceBytes) {
      highest_fence_ = *seq;
    } else {
      data_.push_back(*seq);
    }
    while (!data_.empty() && data_.front() + window_ <= *seq) data_.pop_front();
    return {};
  }

  bool empty() const { return !highest_; }
  /// The highest FENCE, if nothing lies beyond its window.
  std::optional<LogSeq> counting_fence() const {
    if (mutated(Mutant::stray_fence_counts)) return highest_fence_;
    if (!highest_fence_ || *highest_ >= *highest_fence_ + window_) return std::nullopt;
    return highest_fence_;
  }
  /// The lowest seq of the last `window` ones that holds no data; past the end if all do.
  LogSeq place_for_fence() const {
    if (!highest_) return LogSeq(0);
    LogSeq place(highest_->value + 1 > window_ ? highest_->value + 1 - window_ : 0);
    for (const LogSeq data : data_) {
      if (data == place) ++place;
    }
    return place;
  }
  LogSeq end() const { return highest_ ? *highest_ + 1 : LogSeq(0); }

 private:
  uint64_t window_;
  std::optional<LogSeq> highest_;
  std::optional<LogSeq> highest_fence_;
  std::deque<LogSeq> data_;  // those of the last `window_` seqs that hold data, ascending
};

/// Takes one log as R3a says.
class Fencing {
 public:
  Fencing(const Env& env, const IncarnationId& self, const IncarnationId& victim, LogSeq hint,
          uint64_t window, const RetryConfig& retry)
      : env_(env), self_(self), victim_(victim), hint_(hint), window_(window), retry_(retry) {
    MORULA_CHECK(window > 0);
  }

  Result<LogSeq> run() {
    Backoff backoff(env_, retry_, "fence");
    for (;;) {
      auto before = survey();
      if (!before) return fail(std::move(before).error());
      if (mutated(Mutant::skip_fence)) return before->end();
      if (auto fence = before->counting_fence()) {
        auto is_there = check_fence(*fence);
        if (!is_there) return fail(std::move(is_there).error());
        if (*is_there) return *fence;
      } else {
        const LogSeq place = before->place_for_fence();
        auto fence_lies_there = put_fence(place);
        if (!fence_lies_there) return fail(std::move(fence_lies_there).error());
        if (*fence_lies_there) {
          if (mutated(Mutant::fence_without_second_list)) return place;
          // Whatever the first LIST said: its answer may be older than a trim of this region.
          auto after = survey();
          if (!after) return fail(std::move(after).error());
          const auto counting = after->counting_fence();
          env_.trace.sometimes("a fence was put behind the end of a log", !counting);
          if (counting == place) return place;
        }
      }
      backoff.pause(Error{ErrorCode::kBusy, "the log goes on while it is being fenced"});
    }
  }

 private:
  Result<LogSurvey> survey() {
    LogSurvey found(window_);
    // All below the hint was acknowledged, and the last W landed objects are never trimmed: what
    // matters lies from here on.
    if (hint_.value > window_) {
      MORULA_TRY(list(keys::log_object(victim_, hint_ - window_ - 1), found));
    }
    if (found.empty()) MORULA_TRY(list("", found));
    return found;
  }

  Result<> list(std::string_view start_after, LogSurvey& into) {
    return for_each_object(env_, keys::log_folder(victim_), start_after, Purpose::kOwnership,
                           retry_, [&](const ObjectInfo& object) { return into.add(object); });
  }

  /// Put-if-absent. True when a FENCE lies at `place` now, whoever put it; false when data does, or
  /// what lay there is gone.
  Result<bool> put_fence(LogSeq place) {
    const std::string key = keys::log_object(victim_, place);
    Blob fence = make_blob(encode_fence(victim_, place, self_, env_.random.next()));
    auto outcome = create_object(env_, key, std::move(fence), Purpose::kOwnership, retry_);
    if (!outcome) return fail(std::move(outcome).error());
    env_.trace.sometimes("data landed where a fence was to be put", !outcome->landed);
    if (outcome->landed) return true;
    if (!outcome->body) return false;
    auto object = decode_log_object(*outcome->body);
    if (!object) return damaged(key, object.error().message);
    return object->is_fence;
  }

  /// A LIST has shown a fence by its size; its content has to agree. False when it is gone.
  Result<bool> check_fence(LogSeq seq);

  const Env& env_;
  const IncarnationId& self_;
  const IncarnationId& victim_;
  LogSeq hint_;
  uint64_t window_;
  const RetryConfig& retry_;
};

/// A log object with the bytes that its records view.
struct ReadObject {
  Blob bytes;
  LogObject object;
};

/// The object at `seq`; nullopt when it is absent. Damage counts when two reads in a row show the
/// same bytes: one read may have flipped a bit on the way.
Result<std::optional<ReadObject>> read_log_object(const Env& env, const IncarnationId& incarnation,
                                                  LogSeq seq, const RetryConfig& retry) {
  const std::string key = keys::log_object(incarnation, seq);
  Blob last;
  for (int reads = 1;; ++reads) {
    auto found = get_object(env, key, Purpose::kOwnership, retry);
    if (!found) return fail(std::move(found).error());
    if (!*found) return std::nullopt;
    auto object = decode_log_object(*(*found)->body);
    if (object && (object->incarnation != incarnation || object->seq != seq)) {
      return damaged(key, "holds an object of another place: " + object->incarnation.text() +
                              " seq " + std::to_string(object->seq.value));
    }
    if (object) return ReadObject{std::move((*found)->body), std::move(*object)};
    const bool is_certain = last && *last == *(*found)->body;
    env.trace.sometimes("a log object was read once more", !is_certain);
    if (is_certain || reads == kDamagedReadsMax) return damaged(key, object.error().message);
    last = std::move((*found)->body);
  }
}

Result<bool> Fencing::check_fence(LogSeq seq) {
  auto read = read_log_object(env_, victim_, seq, retry_);
  if (!read) return fail(std::move(read).error());
  if (*read && !(*read)->object.is_fence) {
    return damaged(keys::log_object(victim_, seq), "has the size of a fence and is none");
  }
  return read->has_value();
}

/// An object that replay has asked for and will apply in its turn.
struct Ahead {
  std::optional<Result<ReadObject>> answer;
  Event answered;
};

Result<ReadObject> read_batch(const Env& env, const IncarnationId& incarnation, LogSeq seq,
                              const RetryConfig& retry) {
  auto read = read_log_object(env, incarnation, seq, retry);
  if (!read) return fail(std::move(read).error());
  const std::string key = keys::log_object(incarnation, seq);
  if (!*read) return damaged(key, "is absent inside a closed range of the log");
  if ((*read)->object.is_fence) return damaged(key, "is a fence inside a closed range of the log");
  return std::move(**read);
}

}  // namespace

// Step Fence
Result<LogSeq> fence_log(const Env& env, const IncarnationId& self, const IncarnationId& victim,
                         LogSeq acknowledged_hint, uint64_t window, const RetryConfig& retry) {
  auto fence = Fencing(env, self, victim, acknowledged_hint, window, retry).run();
  if (fence) {
    env.trace.step({.step = Step::kFence,
                    .actor = self.text(),
                    .subject = victim.text(),
                    .position = fence->value});
  }
  return fence;
}

// Step Replay
Result<> replay_log(const Env& env, const IncarnationId& self, const IncarnationId& incarnation,
                    LogSeq from, LogSeq to, const RetryConfig& retry,
                    const std::function<Result<>(const LogObject&)>& apply) {
  MORULA_CHECK(from <= to);
  LogSeq end = to;
  if (mutated(Mutant::replay_one_short) && from < to) end = to - 1;
  // Outlives the scope: its fibers answer into it.
  std::deque<Ahead> ahead;
  auto replayed = with_scope(env.domain, [&](Scope& scope) -> Result<> {
    LogSeq asked = from;
    for (LogSeq next = from; next < end; ++next) {
      for (; asked < end && ahead.size() < kReadAhead; ++asked) {
        Ahead& slot = ahead.emplace_back();
        scope.spawn("replay_read", [&env, &incarnation, &retry, &slot, seq = asked] {
          slot.answer.emplace(read_batch(env, incarnation, seq, retry));
          slot.answered.set();
        });
      }
      ahead.front().answered.wait();
      const Result<ReadObject> read = std::move(*ahead.front().answer);
      ahead.pop_front();
      if (!read) return fail(read.error());
      MORULA_TRY(apply(read->object));
    }
    return {};
  });
  if (replayed) {
    env.trace.step({.step = Step::kReplay,
                    .actor = self.text(),
                    .subject = incarnation.text(),
                    .position = from.value,
                    .other = to.value});
  }
  return replayed;
}

}  // namespace morula
