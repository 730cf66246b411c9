// One object of an instance log: a batch of records, or a fence. Format: core/log/FORMAT.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/result.hpp"

namespace morula {

/// Every FENCE has exactly this size, and every batch is larger: a LIST tells them apart.
inline constexpr uint64_t kLogFenceBytes = 212;

/// A change of one stream, as its shard encodes it. `id` is what clips test.
struct LogRecord {
  StreamId id;
  std::string_view payload;  // a view into the object's bytes
};

struct LogObject {
  IncarnationId incarnation;  // whose log
  LogSeq seq;
  bool is_fence = false;
  IncarnationId writer;  // the incarnation itself, or who fenced it
  uint64_t nonce = 0;    // so that two writers' objects never have equal bytes
  WallTime wall_floor;   // no earlier wall time is to be believed after this object
  std::vector<LogRecord> records;
};

/// Builds a batch record by record; the bytes are ready to be sent without another copy.
class LogBatchBuilder {
 public:
  /// `reserve`: bytes that the batch is expected to have.
  LogBatchBuilder(const IncarnationId& incarnation, LogSeq seq, uint64_t nonce, size_t reserve = 0);
  void add(StreamId id, std::string_view payload);
  /// Of the finished object.
  size_t bytes() const;
  size_t records() const { return records_; }
  LogSeq seq() const { return seq_; }
  /// The object's bytes. There is at least one record. The builder is empty afterwards.
  std::string finish(WallTime wall_floor);

 private:
  std::string bytes_;
  LogSeq seq_;
  size_t records_ = 0;
};

/// A FENCE at `seq` of the log of `incarnation`.
std::string encode_fence(const IncarnationId& incarnation, LogSeq seq, const IncarnationId& writer,
                         uint64_t nonce);

/// kCorrupt, saying what is wrong, for anything that is not exactly one log object. The records'
/// payloads are views into `bytes`.
Result<LogObject> decode_log_object(std::string_view bytes);

}  // namespace morula
