// The log of one incarnation: every acknowledged change of any of its shards is in it.
//
// Group commit: a batch is sent at once when fewer than `puts_at_once` are in flight and the PUT
// budget has a token; otherwise records gather until a PUT returns or the flush interval is over.
// Batch n is sent only once batch n-W has landed; the acknowledged position advances only over
// batches that have landed together with all below them (OWNERSHIP R1). An unknown outcome is
// settled by repeating and reading back. Foreign content at an own seq: fenced, for good; nothing
// at or above it is ever acknowledged (R9).
//
// A store that takes no writes for a while loses nothing: what is in line stays there and is
// repeated. But nobody should wait for it without a word: such a log is *stalled*, those who wait
// for an answer are told so, and nothing new should be appended until it goes on.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string_view>

#include "core/base/ids.hpp"
#include "core/log/log_object.hpp"
#include "core/rt/env.hpp"
#include "core/rt/sync.hpp"
#include "core/store/conditional.hpp"

namespace morula {

class WriteProfile;

struct LogConfig {
  uint64_t window = 8;                               // W, a constant of the cell (cell.json)
  uint64_t batch_bytes_max = kMiB;                   // a batch that has reached it is cut, is
                                                     // sent at once and draws on no budget
  uint64_t record_bytes_max = 4 * kMiB + 64 * kKiB;  // one append with its rows
  uint64_t queued_bytes_max = 16 * kMiB;             // unsent; beyond it `wait_for_room` suspends
  Duration flush_interval = std::chrono::milliseconds(100);
  uint64_t puts_at_once = 1;     // with 2, those whose answers came last need not wait for the PUT
                                 // that is in flight: two groups take turns
  uint64_t puts_per_second = 0;  // the PUT budget; 0: unlimited (a directory)
  uint64_t puts_burst = 10;
  // When the lowest batch on its way has failed for so long, requests are answered so instead of
  // waiting: longer than a store's hiccup, shorter than a client's patience.
  Duration stall_after = std::chrono::seconds(5);
  RetryConfig retry;
  WriteProfile* profile = nullptr;  // of the appends and their PUTs, if somebody wants to know
};

/// Makes `lowest_pin` tell whoever computes a trim's bound to stay at or below a seq (OWNERSHIP
/// R7). Movable; must not outlive its log.
class LogPin;

class LogWriter {
 public:
  /// Starts its fibers in `scope`, which must be closed before this is destroyed.
  LogWriter(const Env& env, const LogConfig& config, IncarnationId incarnation, Scope& scope);
  ~LogWriter();

  /// Step Append. Adds a record, which is copied, to the open batch and returns that batch's seq. A
  /// record of `batch_bytes_max` or more gets a batch of its own. Never suspends.
  /// After `fenced()` or `stop` the record goes nowhere and is never acknowledged.
  LogSeq append(StreamId id, std::string_view payload);

  /// Suspends while the queue of unsent bytes is over its bound. kFenced. While the log is stalled
  /// (a full disk, a store that is away) it returns what the store says, at once: kFull, kDenied,
  /// kInvalid or kUnavailable.
  Result<> wait_for_room();

  /// Suspends until batch `seq` is acknowledged: it and all below have landed. kFenced when that
  /// will never be. A seq that has no record yet and is above every append is a caller's bug.
  Result<> wait_acknowledged(LogSeq seq);

  /// The same for somebody who waits to give an answer: gives up when the log stalls, with the
  /// errors of `wait_for_room`. The batch stays where it is and may still be acknowledged.
  Result<> wait_to_answer(LogSeq seq);
  /// True while the lowest batch on its way has failed for `LogConfig::stall_after`. Its PUT is
  /// repeated all the same; the log goes on when it has landed.
  bool stalled() const;

  /// All below it has landed.
  LogSeq acknowledged() const;
  /// Bytes of all records that were ever appended.
  uint64_t appended_bytes() const;
  /// Cuts the open batch if it has records and returns the seq that the next append will get: every
  /// record appended so far lies below it.
  LogSeq cut();
  /// The same, and what was appended so far does not wait for the PUT budget: a whole shard waits
  /// for it.
  LogSeq cut_now();
  /// Lowest seq that was never sent and that no record of an appended batch has: same as `cut`, and
  /// pins it, so that an entry of a manifest may begin there.
  LogPin pin_next();
  LogPin pin(LogSeq seq);
  /// The lowest pinned seq, or nullopt.
  std::optional<LogSeq> lowest_pin() const;

  bool fenced() const;
  /// Opens when the log is fenced.
  Event& fenced_event();

  /// Step Trim: deletes own objects below `below`, ascending, but never any of the last W landed
  /// ones. The caller has computed `below` in the order of OWNERSHIP R7. kFenced; or the store's
  /// error after a few attempts: the next trim goes on from there. Suspends.
  Result<> trim(LogSeq below);

  /// Clean stop (R8): waits until every own batch has landed, then writes the own FENCE as the last
  /// object. From now on appends go nowhere. kFenced if somebody else was first. Suspends until the
  /// fence has landed; a caller that was cancelled may call again.
  Result<> stop();

  /// max(wall clock, `wall_floor`), which from now on is not below it.
  WallTime wall();
  /// Latest wall time that the log has recorded; sent batches carry at least it.
  void raise_wall_floor(WallTime floor);
  WallTime wall_floor() const;
  /// What the last acknowledged batch carries.
  WallTime acknowledged_floor() const;

  const IncarnationId& incarnation() const;

 private:
  friend class LogPin;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

class LogPin {
 public:
  LogPin() = default;
  LogPin(LogPin&& other) noexcept;
  LogPin& operator=(LogPin&& other) noexcept;
  ~LogPin();
  LogSeq seq() const { return seq_; }
  void release();

 private:
  friend class LogWriter;
  LogPin(LogWriter::Impl* log, LogSeq seq);
  LogWriter::Impl* log_ = nullptr;
  LogSeq seq_;
};

}  // namespace morula
