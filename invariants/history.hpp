// What clients did and what they were told: the history that invariants 1 to 3 are checked on.
//
// Every attempt is an operation of its own: a retry is a new one, which for an idempotent producer
// carries the same record. Order is the world's true order of beginnings and ends, counted; times
// are for people.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/lsm/row.hpp"
#include "invariants/record.hpp"
#include "invariants/violation.hpp"

namespace morula::invariants {

enum class OpKind : uint8_t {
  kCreate,
  kAppend,
  kRead,
  kHead,
  kDelete,
  kListed,  // what one page of a listing says of one path: it is there, or it is not
};
std::string_view to_string(OpKind kind);

/// Of an append by an idempotent producer.
struct ProducerStamp {
  std::string id;
  uint64_t epoch = 0;
  uint64_t seq = 0;
};

/// A place in a stream, and in which creation of its path, where the client knows that.
struct KnownOffset {
  Offset offset;
  std::optional<uint64_t> generation;
};

/// What a client asks for.
struct Request {
  uint32_t client = 0;
  uint32_t number = 0;  // of the client's operations
  OpKind kind = OpKind::kRead;
  std::string path;
  std::string server;  // whom it asks

  // Appends, and creates with first content. `messages` is 0 when nothing is sent.
  RecordId record;  // (client, number) of the first attempt
  uint32_t messages = 0;
  uint64_t message_bytes = 0;  // of each
  Framing framing = Framing::kBytes;
  std::optional<ProducerStamp> producer;
  std::optional<KnownOffset> expected;  // append only if this is the tail
  std::optional<std::string> sequence;  // `Stream-Seq`

  // Creates: how long the stream is to live; neither: for ever.
  std::optional<uint64_t> ttl_seconds;
  std::optional<WallTime> expires_at;

  // Reads. Nothing: from the start; `at_tail`: from the tail ("now").
  std::optional<KnownOffset> from;
  bool at_tail = false;
  /// Read of a whole stream after healing: what it doesn't show is lost.
  bool final = false;
};

enum class Outcome : uint8_t {
  kPending,  // no answer yet
  kOk,       // done, or shown
  kAbsent,   // certain: there is no such stream
  kRefused,  // certain: it had no effect
  kUnknown,  // it may have happened, or may still happen
};
std::string_view to_string(Outcome outcome);

/// What the client was told.
struct Response {
  Outcome outcome = Outcome::kUnknown;
  int status = 0;                       // 0: no answer
  std::string code;                     // of the error body, or why there was no answer
  std::optional<uint64_t> generation;   // which creation of the path the answer is about
  std::optional<Offset> next;           // the offset after what was done or shown; the tail
  bool existed = false;                 // create: it was there already
  bool duplicate = false;               // producer append: it was there already
  std::optional<uint64_t> highest_seq;  // producer append: of this producer and epoch
  bool up_to_date = false;              // read: `next` was the tail
  bool offset_mismatch = false;         // refused: the tail, `next`, is not the expected offset
  bool bad_offset = false;              // refused: a read from an offset that is none
  Framing body_framing = Framing::kBytes;
  std::string_view body;  // of a read; valid during the call
};

/// Index of an operation in its history.
using OpRef = uint32_t;
inline constexpr OpRef kNoOp = UINT32_MAX;

struct Op {
  Request request;
  Response response;              // its body is not kept
  std::vector<Message> messages;  // of a read
  std::string bad_body;           // of a read: what is wrong with its body; empty: nothing
  uint64_t began = 0;             // in the world's order
  uint64_t ended = UINT64_MAX;
  Duration began_at{};
  Duration ended_at{};

  bool pending() const { return ended == UINT64_MAX; }
  /// It changes the stream if it happens.
  bool writes() const {
    return request.kind == OpKind::kCreate || request.kind == OpKind::kAppend ||
           request.kind == OpKind::kDelete;
  }
};

/// Keeps every operation of a world for as long as it runs.
class History {
 public:
  OpRef begin(Request request, Duration at);
  /// Keeps what `response` says, and its body taken apart. An operation ends once.
  void end(OpRef op, const Response& response, Duration at);

  const Op& op(OpRef ref) const { return ops_[ref]; }
  size_t size() const { return ops_.size(); }
  /// The first attempt to append this record; kNoOp when nobody ever sent it.
  OpRef first_attempt(RecordId record) const;

  /// "append c3#17 (12.100000 s to 12.250000 s, asked http://i1:80): 204, next 12_3456": all that a
  /// person needs of it.
  std::string describe(OpRef ref) const;

 private:
  std::deque<Op> ops_;
  std::vector<std::vector<OpRef>> first_attempts_;  // by client, then by number
  uint64_t order_ = 0;
};

}  // namespace morula::invariants
