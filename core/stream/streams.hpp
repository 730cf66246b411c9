// Durable Streams semantics over the rows of all shards that an instance serves: create, append,
// read, head, remove, list. No HTTP in here.
//
// Problem: many fibers work on many streams; what each is told must be true for good, while shards
// come, go, split and merge below. Three rules make it so.
// - Validation and change of one stream happen under its mutex, and a change is applied without
//   suspending. The mutex is released before the change is durable, so that the appends of many
//   clients to one stream share a batch of the log.
// - Every answer, refusals and duplicates included, is computed from the stream's state at one
//   moment, and passes `ShardRows::confirm` with the log position of that state's last change.
// - Whatever decides or applies something looks in the same go, without suspension, whether the
//   stream's shard is served here (`ShardRows::serves`) and was so ever since the state was made
//   (`forget`); an answer that wrote nothing looks once more when it is given. Otherwise it ends as
//   `Unserved` with kMoved. A change that was applied before is answered all the same.
//
// A write that was applied but not confirmed ends as `OutcomeUnknown`: it may be durable, or become
// so. Everything else that keeps an answer from being given is `Unserved`.
//
// A stream with a TTL gets all of it again by every read of it and every append that succeeds,
// duplicates included; not by a head, a create that finds it, or an append that is refused. How
// that is kept, and how a stream ends for good, is in core/stream/renewal.cpp.
//
// States of streams are cached, the least recently used go first; one that is in use, or whose last
// change is not yet acknowledged, stays (an answer must know its position).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/memory_account.hpp"
#include "core/base/prefix.hpp"
#include "core/base/result.hpp"
#include "core/lsm/row.hpp"
#include "core/rt/env.hpp"
#include "core/shard/shard_rows.hpp"
#include "core/stream/expiry.hpp"
#include "core/stream/limits.hpp"

namespace morula {

/// Views in requests must stay valid until the call returns.
struct CreateRequest {
  StreamHash stream;
  std::string_view tenant;
  std::string_view path;  // decoded
  std::string content_type;
  Expiry expiry;
  std::string_view body;  // first content; may be empty
};

/// One append of an idempotent producer; epoch and seq are at most 2^53-1.
struct ProducerClaim {
  std::string_view id;  // not empty
  uint64_t epoch = 0;
  uint64_t seq = 0;
};

struct AppendRequest {
  StreamHash stream;
  std::string_view content_type;
  std::string_view body;
  std::optional<ProducerClaim> producer;
  std::optional<std::string_view> sequence;  // `Stream-Seq`: must grow bytewise; scope: the stream
  std::optional<Offset> expected_offset;     // append only if this is the tail
};

struct RemoveRequest {
  StreamHash stream;
  std::string_view tenant;
  std::string_view path;  // decoded
};

/// Of the streams of this shard: those of the tenant whose path begins with `prefix` and is above
/// `after`.
struct ListRequest {
  Prefix shard;
  std::string_view tenant;
  std::string_view prefix;
  std::string_view after;  // empty: from the first
  size_t limit = 100;      // at least 1
};

struct ReadRequest {
  StreamHash stream;
  enum class From : uint8_t { kStart, kOffset, kTail } from = From::kStart;
  Offset offset;       // with kOffset
  bool renews = true;  // the stream's TTL
};

/// What a stream is, at the moment that its answer shows.
struct StreamInfo {
  StreamId id;
  Generation generation;
  Offset tail;
  std::string content_type;  // as it was given at creation
  bool json = false;
  Expiry expiry;
  std::optional<uint64_t> remaining_ms;  // until it expires
};

/// Why a request was turned down. Each is certain and has changed nothing.
enum class Refusal : uint8_t {
  kAbsent,               // no such stream: never created, deleted, or past its deadline
  kExists,               // create: it exists with another content type or expiry
  kContentTypeMismatch,  // append: not the stream's content type
  kInvalidContentType,   // not a content type
  kInvalidJson,          // the body is not JSON, or an append of no messages
  kEmptyAppend,          // the body is empty
  kTooLarge,             // the body is over `append_bytes_max`
  kStaleEpoch,           // the producer's epoch is below `Refused::producer_epoch`
  kEpochNotAtZero,       // a new epoch must start at seq 0
  kSequenceGap,          // the producer's seq is above `Refused::expected_seq`
  kSequenceRegression,   // `Stream-Seq` is not above the last one
  kOffsetMismatch,       // the tail (`Refused::tail`) is not the expected offset
  kInvalidOffset,        // read: beyond the tail, or not between two messages
  kCollision,            // another path has this StreamId
};

struct Refused {
  Refusal why;
  std::string message;  // for a person: what was wrong, and what is allowed
  std::optional<Offset> tail;
  uint64_t producer_epoch = 0;  // with kStaleEpoch: the current one
  uint64_t expected_seq = 0;    // with kSequenceGap
};

/// No answer can be given here and now; nothing was written but a renewal or an end, perhaps.
/// kFenced, kLeaseLost, kMoved: somebody else serves the stream, or soon will. kBusy: a bound.
/// Others: the store; kCorrupt: damage.
struct Unserved {
  Error error;
};

/// The change was applied but not confirmed: it may be durable, or become so.
struct OutcomeUnknown {
  Error error;
};

struct Created {
  StreamInfo info;
  bool existed = false;  // with the same configuration: nothing was changed
};

struct Appended {
  Offset tail;             // after this append; of a duplicate: after the producer's last append
  bool duplicate = false;  // nothing was changed
  uint64_t producer_epoch = 0;
  uint64_t producer_seq = 0;  // the highest accepted of this producer and epoch
  Generation generation{};
};

struct ReadAnswer {
  StreamInfo info;
  Offset start;
  Offset end;
  bool up_to_date = false;  // `end` was the tail
  std::string body;         // of a JSON stream one array
  MemoryReservation body_memory = {};
};

struct Removed {
  Generation generation{};
};

/// What of a stream never changes: a listing must not cost a look at each of them. (why no tail:
/// it is in the hot row, which an append writes; the index is written at creation and deletion.)
struct ListedStream {
  std::string path;
  Generation generation{};
  std::string content_type;
  WallTime created;
};

struct Listed {
  std::vector<ListedStream> streams;  // by path, at most `limit`
  /// Up to this path everything is in `streams`, and there may be more above it; nullopt: there is
  /// none. There may be more even if `streams` has less than `limit`.
  std::optional<std::string> next;
};

using CreateOutcome = std::variant<Created, Refused, Unserved, OutcomeUnknown>;
using AppendOutcome = std::variant<Appended, Refused, Unserved, OutcomeUnknown>;
using ReadOutcome = std::variant<ReadAnswer, Refused, Unserved>;
using HeadOutcome = std::variant<StreamInfo, Refused, Unserved>;
using ListOutcome = std::variant<Listed, Unserved>;
using RemoveOutcome = std::variant<Removed, Refused, Unserved, OutcomeUnknown>;

class Streams {
 public:
  /// Nobody else applies rows to `rows`. `env`'s parts and `rows` outlive it and every call of it.
  Streams(const Env& env, ShardRows& rows, const StreamLimits& limits);
  ~Streams();
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;

  // All suspend, and throw Cancelled. A write that is cancelled may have been applied.

  /// A stream that exists with the same media type and expiry is answered as `existed`; its body
  /// stays as it is.
  CreateOutcome create(const CreateRequest& request);
  /// Checks in this order: the content type's form, the body's size; then, as the stream is at one
  /// moment, that it exists, its content type, the body's JSON, the producer (a duplicate ends
  /// here), `sequence`, `expected_offset`.
  AppendOutcome append(const AppendRequest& request);
  /// From `offset` at least one append, if there is one, and no more once `read_bytes_max` is
  /// reached.
  ReadOutcome read(const ReadRequest& request);
  HeadOutcome head(const StreamHash& stream);
  RemoveOutcome remove(const RemoveRequest& request);
  /// Each stream that there was all the time from the call to the answer is in it, none that there
  /// was at no moment of it.
  ListOutcome list(const ListRequest& request);

  /// Shards of this space are not served here any more, and others may change its streams from now
  /// on: drops what is in memory of them, and requests under way decide nothing by it. Before any
  /// shard of this space is served again. Never suspends.
  void forget(Prefix space);

  /// States in the cache now.
  size_t cached() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace morula
