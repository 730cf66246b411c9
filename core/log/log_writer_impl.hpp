// What a LogWriter is made of. Only for the files of the log writer.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "core/base/check.hpp"
#include "core/log/batch_line.hpp"
#include "core/log/log_writer.hpp"
#include "core/log/put_budget.hpp"
#include "core/rt/clock.hpp"
#include "core/rt/env.hpp"
#include "core/rt/sync.hpp"

namespace morula {

// Of the log as a whole: running -> stopping -> stopped, and from the first two -> fenced.
struct LogWriter::Impl {
  Impl(const Env& e, const LogConfig& c, IncarnationId i)
      : env(e),
        config(c),
        incarnation(std::move(i)),
        text(incarnation.text()),
        line(incarnation, c.window),
        budget(c.puts_per_second, c.puts_burst, e.clock.now()) {}
  ~Impl() { MORULA_CHECK(pins.empty(), "a pin outlives its log"); }

  LogSeq append(StreamId id, std::string_view payload);
  LogSeq cut();
  Result<> wait_for_room();
  Result<> wait_acknowledged(LogSeq seq);
  Result<> wait_to_answer(LogSeq seq);
  Result<std::shared_ptr<LogBatch>> find_unacknowledged(LogSeq seq) const;
  Result<> trim(LogSeq below);
  Result<> remove_ascending(LogSeq begin, LogSeq end);
  Result<> stop();

  void commit();
  Time send_what_may_go(Scope& puts);
  Time when_open_is_due();
  void put_log(Scope& puts);
  void put_batch(LogBatch& batch);
  void acknowledge(LogBatch& batch);
  void become_fenced(LogSeq seq, const Blob& found);
  void report_foreign(const std::string& key, const Blob& found);
  ConditionalOutcome put_until_answered(const std::string& key, const Blob& body);
  void note_trouble(const std::string& key, const Error& error);
  Time look_for_stall();
  void end_stall();
  Error stall_error() const;

  /// Records go nowhere any more.
  bool closed() const { return stopping || fenced.is_set(); }

  const Env env;
  const LogConfig config;
  const IncarnationId incarnation;
  const std::string text;  // of the incarnation, for traces
  BatchLine line;
  PutBudget budget;
  WaitList work;  // the committer
  WaitList room;  // appenders
  Event fenced;
  bool stopping = false;
  bool stopped = false;
  Blob stop_fence;                // kept: a repeated stop repeats the identical request
  bool put_has_returned = false;  // since the open batch was opened
  Time opened_at{};
  WallTime floor;
  LogSeq hurried_below;  // batches below it draw on no budget
  LogSeq trimmed;        // all below it were deleted
  std::multiset<LogSeq> pins;
  Time warn_again_at{};
  std::optional<Error> trouble;  // of the latest failed PUT since the log last got ahead
  Time got_ahead_at{};           // or began to have something on its way
  bool stalled = false;
  uint64_t appended_bytes = 0;
};

}  // namespace morula
