// The batches of a log writer that are not acknowledged yet, in line: which may be sent, and which
// are acknowledged, by OWNERSHIP R1. No I/O, no time: the log writer carries out what this allows.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string_view>

#include "core/base/bytes.hpp"
#include "core/base/ids.hpp"
#include "core/base/units.hpp"
#include "core/log/log_object.hpp"
#include "core/rt/sync.hpp"

namespace morula {

/// A batch goes open -> cut -> sent -> landed, and leaves the line when it is acknowledged. At most
/// one is open: the last in line.
struct LogBatch {
  enum class State : uint8_t { kOpen, kCut, kSent, kLanded };
  State state = State::kOpen;
  LogSeq seq;
  Blob bytes;         // from the cut until it has landed
  uint64_t size = 0;  // of the bytes
  uint64_t records = 0;
  WallTime floor;   // that the bytes carry
  Event settled;    // acknowledged, or known never to be
  WaitList askers;  // who waits for that to give an answer, and may give up before

  void settle() {
    settled.set();
    askers.wake_all();
  }
};

class BatchLine {
 public:
  /// `window` > 0.
  BatchLine(IncarnationId incarnation, uint64_t window);

  bool has_open() const { return open_.has_value(); }
  /// Opens a batch. None is open.
  void open(uint64_t nonce);
  /// Into the open batch.
  void add(StreamId id, std::string_view payload) { open_->add(id, payload); }
  /// Of the open batch as an object; 0 when none is open.
  uint64_t open_bytes() const { return open_ ? open_->bytes() : 0; }
  /// The open batch gets no more records.
  void cut(WallTime wall_floor);

  /// What the next record's batch has.
  LogSeq next() const { return cut_; }
  /// All below has landed.
  LogSeq acknowledged() const { return acknowledged_; }
  /// The wall floor of the last acknowledged batch.
  WallTime acknowledged_floor() const { return acknowledged_floor_; }
  /// Of batches that were not sent, the open one included.
  uint64_t unsent_bytes() const { return cut_bytes_ + open_bytes(); }
  uint64_t in_flight() const { return in_flight_; }

  /// True when the window allows the lowest unsent batch, cut or not, to be sent.
  bool may_send() const;
  /// The lowest unsent batch, if it is cut.
  const LogBatch* to_send() const;
  /// The batch of `to_send` is on its way. `may_send` holds.
  std::shared_ptr<LogBatch> send();
  /// True when the acknowledged position advanced; waiters of what is acknowledged are woken.
  bool land(LogBatch& batch);

  /// The batch of `seq` if it is in line.
  std::shared_ptr<LogBatch> find(LogSeq seq) const;
  /// Wakes the askers of all batches in line.
  void wake_askers();
  /// Nothing in line will be acknowledged: wakes all waiters and frees what was not sent.
  void abandon();

 private:
  LogBatch& at(LogSeq seq) { return *line_[seq - acknowledged_]; }

  IncarnationId incarnation_;
  uint64_t window_;
  // acknowledged_ <= sent_ <= cut_; the line holds [acknowledged_, cut_) and the open batch.
  std::deque<std::shared_ptr<LogBatch>> line_;
  LogSeq acknowledged_;
  WallTime acknowledged_floor_;
  LogSeq sent_;  // all below it were sent
  LogSeq cut_;   // all below it were cut
  std::optional<LogBatchBuilder> open_;
  uint64_t cut_bytes_ = 0;  // cut and not sent
  uint64_t in_flight_ = 0;
  size_t last_size_ = 0;  // of the batch cut last: what the next one may need
};

}  // namespace morula
