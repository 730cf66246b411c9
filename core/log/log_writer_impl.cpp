#include "core/log/log_writer_impl.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/base/mutant.hpp"
#include "core/rt/random.hpp"
#include "core/rt/store.hpp"
#include "core/rt/trace.hpp"
#include "core/store/backoff.hpp"
#include "core/store/conditional.hpp"
#include "core/store/keys.hpp"
#include "core/store/remove_objects.hpp"
#include "core/store/write_profile.hpp"

namespace morula {

namespace {

constexpr Duration kWarnAfter = std::chrono::seconds(1);  // a hiccup is not worth a line
constexpr Duration kWarnEvery = std::chrono::seconds(10);

tl::unexpected<Error> fenced_error(const std::string& incarnation) {
  return fail(ErrorCode::kFenced, "the log of " + incarnation + " has ended");
}

}  // namespace

// Step Append
LogSeq LogWriter::Impl::append(StreamId id, std::string_view payload) {
  MORULA_CHECK(payload.size() <= config.record_bytes_max, "a record is over its bound");
  if (closed()) return line.next();
  // A batch of its own: the small ones before it need not wait for its transfer.
  if (line.has_open() && payload.size() >= config.batch_bytes_max) cut();
  if (!line.has_open()) {
    line.open(env.random.next());
    opened_at = env.clock.now();
    put_has_returned = false;
    work.wake_one();
  }
  const LogSeq seq = line.next();
  line.add(id, payload);
  appended_bytes += payload.size();
  env.trace.step(
      {.step = Step::kAppend, .actor = text, .subject = StreamIdText(id), .position = seq.value});
  if (line.open_bytes() >= config.batch_bytes_max) cut();
  return seq;
}

LogSeq LogWriter::Impl::cut() {
  if (line.has_open()) {
    floor = std::max(floor, env.clock.wall());
    line.cut(floor);
    work.wake_one();
  }
  return line.next();
}

Result<> LogWriter::Impl::wait_for_room() {
  while (!closed() && !stalled && line.unsent_bytes() >= config.queued_bytes_max) {
    env.trace.sometimes("an append waited for room in the log's queue", true);
    room.wait();
  }
  if (closed()) return fenced_error(text);
  if (stalled) return fail(stall_error());
  return {};
}

/// Null: it is acknowledged. Held by the caller, because it leaves the line then.
Result<std::shared_ptr<LogBatch>> LogWriter::Impl::find_unacknowledged(LogSeq seq) const {
  if (seq < line.acknowledged()) return nullptr;
  if (fenced.is_set()) return fenced_error(text);
  auto batch = line.find(seq);
  if (!batch) {
    MORULA_CHECK(stopping, "no record was appended at this position");
    return fenced_error(text);
  }
  return batch;
}

Result<> LogWriter::Impl::wait_acknowledged(LogSeq seq) {
  const auto batch = find_unacknowledged(seq);
  MORULA_TRY(batch);
  if (*batch == nullptr) return {};
  (*batch)->settled.wait();
  if (seq < line.acknowledged()) return {};
  if (mutated(Mutant::ack_out_of_order) && (*batch)->state == LogBatch::State::kLanded) return {};
  return fenced_error(text);
}

Result<> LogWriter::Impl::wait_to_answer(LogSeq seq) {
  const auto batch = find_unacknowledged(seq);
  MORULA_TRY(batch);
  if (*batch == nullptr) return {};
  while (!(*batch)->settled.is_set() && !stalled) (*batch)->askers.wait();
  if ((*batch)->settled.is_set()) return wait_acknowledged(seq);
  env.trace.sometimes("a request gave up waiting for a stalled log", true);
  return fail(stall_error());
}

/// The committer: decides when what is sent, until the log has ended.
void LogWriter::Impl::commit() {
  with_scope(env.domain, [this](Scope& puts) {
    while (!fenced.is_set() && !stopped) {
      const Time look_again = std::min(send_what_may_go(puts), look_for_stall());
      work.wait_until(env.clock, look_again);
    }
  });
}

/// Sends all that may be sent now. Returns when to look again if nothing happens before.
Time LogWriter::Impl::send_what_may_go(Scope& puts) {
  for (;;) {
    // With a closed window only a PUT's return helps, and it wakes the committer.
    env.trace.sometimes("the log's window was closed", !line.may_send() && line.unsent_bytes() > 0);
    if (!line.may_send()) return kNever;
    const LogBatch* batch = line.to_send();
    if (batch == nullptr) {
      if (!line.has_open()) return kNever;
      const Time due = when_open_is_due();
      if (due > env.clock.now()) return due;
    }
    // A full batch pays for bytes; the budget is for impatience.
    const bool hurried = batch != nullptr && batch->seq < hurried_below;
    if (!hurried && (batch == nullptr || batch->size < config.batch_bytes_max)) {
      const Time now = env.clock.now();
      const Time token = budget.next(now);
      env.trace.sometimes("the log's PUT budget was empty", token > now);
      if (token > now) return token;
      budget.take(now);
    }
    if (batch == nullptr) cut();
    put_log(puts);
  }
}

Time LogWriter::Impl::when_open_is_due() {
  const uint64_t at_once = std::max<uint64_t>(config.puts_at_once, 1);
  if (line.in_flight() < at_once || put_has_returned) return env.clock.now();
  return opened_at + config.flush_interval;
}

// Step PutLog
void LogWriter::Impl::put_log(Scope& puts) {
  const bool was_full = line.unsent_bytes() >= config.queued_bytes_max;
  if (line.in_flight() == 0) got_ahead_at = env.clock.now();
  auto batch = line.send();
  env.trace.step({.step = Step::kPutLog, .actor = text, .position = batch->seq.value});
  if (was_full && line.unsent_bytes() < config.queued_bytes_max) room.wake_all();
  puts.spawn("log_put", [this, sent = std::move(batch)] { put_batch(*sent); });
}

/// One batch's way into the bucket.
void LogWriter::Impl::put_batch(LogBatch& batch) {
  const ProfiledRoundTrip profiled(config.profile, env.clock, batch.records);
  const auto outcome = put_until_answered(keys::log_object(incarnation, batch.seq), batch.bytes);
  if (fenced.is_set()) return;
  // Nothing there although the condition failed: what lay there was not ours, because nobody
  // deletes own objects that are not acknowledged, but a collector after a fence.
  if (!outcome.landed) return become_fenced(batch.seq, outcome.body);
  acknowledge(batch);
  put_has_returned = true;
  work.wake_one();
}

// Step Acknowledge
void LogWriter::Impl::acknowledge(LogBatch& batch) {
  env.trace.sometimes("a batch landed before one below it", batch.seq > line.acknowledged());
  if (!line.land(batch)) return;
  end_stall();
  env.trace.step(
      {.step = Step::kAcknowledge, .actor = text, .position = line.acknowledged().value});
}

// Step Fenced
void LogWriter::Impl::become_fenced(LogSeq seq, const Blob& found) {
  if (fenced.is_set()) return;
  env.trace.step({.step = Step::kFenced, .actor = text, .position = seq.value});
  report_foreign(keys::log_object(incarnation, seq), found);
  fenced.set();
  line.abandon();
  room.wake_all();
  work.wake_one();
}

void LogWriter::Impl::report_foreign(const std::string& key, const Blob& found) {
  if (!found) return env.trace.log(Severity::kInfo, "log_fenced", {{"key", key}, {"by", "?"}});
  const auto object = decode_log_object(*found);
  if (object) {
    env.trace.log(Severity::kInfo, "log_fenced", {{"key", key}, {"by", object->writer.text()}});
  } else {
    env.trace.log(Severity::kError, "log_object_damaged",
                  {{"key", key}, {"message", object.error().message}});
  }
}

ConditionalOutcome LogWriter::Impl::put_until_answered(const std::string& key, const Blob& body) {
  Backoff backoff(env, config.retry, key);
  const auto note = [this, &key](const Error& error) { note_trouble(key, error); };
  for (;;) {
    auto outcome = create_object(env, key, body, Purpose::kLog, config.retry, note);
    if (outcome) return std::move(*outcome);
    // Without permission or space nothing is lost: what is in line waits for them.
    note_trouble(key, outcome.error());
    backoff.pause(outcome.error());
  }
}

void LogWriter::Impl::note_trouble(const std::string& key, const Error& error) {
  if (fenced.is_set()) return;
  if (!trouble) work.wake_one();
  trouble = error;
  const Time now = env.clock.now();
  if (now < warn_again_at || now < got_ahead_at + kWarnAfter) return;
  warn_again_at = now + kWarnEvery;
  env.trace.log(Severity::kWarning, "log_put_failed",
                {{"key", key}, {"error", to_string(error.code)}, {"message", error.message}});
}

/// Returns when to look again if nothing happens before.
Time LogWriter::Impl::look_for_stall() {
  if (stalled || !trouble || line.in_flight() == 0) return kNever;
  const Time due = got_ahead_at + config.stall_after;
  if (env.clock.now() < due) return due;
  stalled = true;
  env.trace.log(Severity::kWarning, "log_stalled",
                {{"error", to_string(trouble->code)}, {"message", trouble->message}});
  line.wake_askers();
  room.wake_all();
  return kNever;
}

/// The log has got ahead.
void LogWriter::Impl::end_stall() {
  got_ahead_at = env.clock.now();
  trouble.reset();
  if (!std::exchange(stalled, false)) return;
  env.trace.sometimes("a stalled log went on", true);
  env.trace.log(Severity::kInfo, "log_goes_on", {});
}

Error LogWriter::Impl::stall_error() const {
  const bool certain = trouble->code == ErrorCode::kFull || trouble->code == ErrorCode::kDenied ||
                       trouble->code == ErrorCode::kInvalid;
  const auto retry_ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(config.retry.backoff_max).count();
  return Error{certain ? trouble->code : ErrorCode::kUnavailable,
               "the log can't be written: " + trouble->message, retry_ms};
}

// Step Trim
Result<> LogWriter::Impl::trim(LogSeq below) {
  if (fenced.is_set()) return fenced_error(text);
  const LogSeq acknowledged = line.acknowledged();
  uint64_t keep = config.window;
  if (mutated(Mutant::trim_into_window)) keep = 0;
  // All below the acknowledged position have landed, so these W are among the last W landed ones
  // or below them.
  if (acknowledged.value <= keep) return {};
  const LogSeq end = std::min(below, acknowledged - keep);
  if (end <= trimmed || stopping) return {};
  env.trace.step({.step = Step::kTrim, .actor = text, .position = end.value});
  const uint64_t step = env.store.abilities().batch_remove ? kRemovedAtOnce : 1;
  while (trimmed < end) {
    const LogSeq chunk_end = std::min(end, trimmed + step);
    MORULA_TRY(remove_ascending(trimmed, chunk_end));
    trimmed = std::max(trimmed, chunk_end);
    if (fenced.is_set()) return fenced_error(text);
  }
  return {};
}

Result<> LogWriter::Impl::remove_ascending(LogSeq begin, LogSeq end) {
  std::vector<std::string> keys;
  keys.reserve(end - begin);
  for (LogSeq seq = begin; seq < end; ++seq) keys.push_back(keys::log_object(incarnation, seq));
  return remove_objects(env, keys, Purpose::kTrim, config.retry);
}

Result<> LogWriter::Impl::stop() {
  if (fenced.is_set()) return fenced_error(text);
  stopping = true;
  room.wake_all();
  const LogSeq end = cut();
  if (!mutated(Mutant::stop_fence_too_early) && end > LogSeq(0)) {
    MORULA_TRY(wait_acknowledged(end - 1));
  }
  if (stopped) return {};
  if (!stop_fence) {
    stop_fence = make_blob(encode_fence(incarnation, end, incarnation, env.random.next()));
  }
  const auto outcome = put_until_answered(keys::log_object(incarnation, end), stop_fence);
  if (!outcome.landed) become_fenced(end, outcome.body);
  if (fenced.is_set()) return fenced_error(text);
  stopped = true;
  work.wake_one();
  return {};
}

}  // namespace morula
