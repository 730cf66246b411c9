// Reading.
#include <algorithm>

#include "core/base/check.hpp"
#include "core/stream/offset.hpp"
#include "core/stream/streams_impl.hpp"

namespace morula {

namespace {

/// How often a read that lost its rows to a delete begins again.
constexpr int kReadAttempts = 3;

/// The messages of rows that follow each other, from one offset on.
class BodyBuilder {
 public:
  BodyBuilder(Offset from, bool json) : position_(from), json_(json) {
    if (json_) body_.push_back('[');
  }

  void reserve(size_t bytes) { body_.reserve(bytes); }

  /// False: the offset to begin at is not between two messages. kCorrupt.
  Result<bool> add(const RowView& row) {
    auto data = DataRow::decode(row);
    MORULA_TRY(data);
    if (data->start() > position_ || (!first_ && data->start() != position_)) {
      return fail(ErrorCode::kCorrupt,
                  "data rows are missing before " + offset_text(data->start()));
    }
    while (data->position() < position_) {
      const auto skipped = data->next();
      MORULA_TRY(skipped);
    }
    if (data->position() != position_) return false;
    for (;;) {
      const auto message = data->next();
      MORULA_TRY(message);
      if (!*message) break;
      if (json_ && !first_) body_.push_back(',');
      body_.append(**message);
      first_ = false;
    }
    position_ = data->position();
    return true;
  }

  Offset position() const { return position_; }
  size_t size() const { return body_.size(); }
  std::string finish() {
    if (json_) body_.push_back(']');
    return std::move(body_);
  }

 private:
  std::string body_;
  Offset position_;
  bool json_;
  bool first_ = true;
};

Refused refuse_offset(std::string message) {
  return refused(Refusal::kInvalidOffset, std::move(message));
}

}  // namespace

Result<bool> Streams::Impl::read_messages(ReadAnswer& given) {
  const StreamInfo& info = given.info;
  BodyBuilder body(given.start, info.json);
  if (given.start < info.tail) {
    const uint64_t known = std::min(info.tail.bytes - given.start.bytes, limits.read_bytes_max);
    auto memory = rows.reserve_read(known);
    MORULA_TRY(memory);
    given.body_memory = std::move(*memory);
    body.reserve(known);
    DataScan scan{info.id, info.generation, given.start, info.tail, limits.read_bytes_max};
    bool between_messages = true;
    MORULA_TRY(rows.scan_data(scan, [&](const RowView& row) -> Result<bool> {
      // One append may be larger than a read is to be.
      auto grown = rows.grow_read(given.body_memory, body.size() + row.value.size());
      if (!grown) return fail(std::move(grown).error());
      auto added = body.add(row);
      between_messages = added.value_or(true);
      return added;
    }));
    if (!between_messages) return false;
    if (scan.rows == 0) return fail(ErrorCode::kCorrupt, "data rows are missing at the tail");
  }
  given.end = body.position();
  given.up_to_date = given.end == info.tail;
  given.body = body.finish();
  given.body_memory.resize(given.body.capacity());
  return true;
}

ReadOutcome Streams::Impl::read(const ReadRequest& request) {
  const StreamId id = request.stream.id;
  for (int attempt = 1;; ++attempt) {
    auto opened = open(id);
    if (!opened) return unserved(id, std::move(opened).error());
    StreamState& state = **opened;
    const auto now =
        settle(request.stream, state, request.renews ? Access::kRenews : Access::kLooks);
    if (!now) return unserved(id, now.error());
    // What the answer shows is the stream as it is now, whatever happens during the scan.
    const auto position = state.position;
    if (auto refusal = refuse_absent(request.stream, state, *now)) {
      return answer<ReadOutcome>(std::move(*refusal), id, state, position);
    }
    ReadAnswer given;
    given.info = describe(id, *state.newest, *now);
    if (request.from == ReadRequest::From::kOffset) given.start = request.offset;
    if (request.from == ReadRequest::From::kTail) given.start = given.info.tail;
    if (given.start > given.info.tail || given.start.bytes > given.info.tail.bytes) {
      return answer<ReadOutcome>(
          refuse_offset("the offset is beyond the tail, " + offset_text(given.info.tail)), id,
          state, position);
    }
    auto read = read_messages(given);
    if (read && *read) return answer<ReadOutcome>(std::move(given), id, state, position);
    if (read) {
      return answer<ReadOutcome>(refuse_offset("the offset is not between two messages"), id, state,
                                 position);
    }
    const bool replaced = !state.newest || state.newest->deleted ||
                          state.newest->generation != given.info.generation ||
                          !exists(state, rows.wall());
    if (read.error().code != ErrorCode::kCorrupt || !replaced || attempt == kReadAttempts) {
      return unserved(id, state, std::move(read).error());
    }
    env.trace.sometimes("a read lost its rows to a delete and began again", true);
  }
}

HeadOutcome Streams::Impl::head(const StreamHash& stream) {
  auto opened = open(stream.id);
  if (!opened) return unserved(stream.id, std::move(opened).error());
  StreamState& state = **opened;
  const auto now = settle(stream, state, Access::kLooks);
  if (!now) return unserved(stream.id, now.error());
  const auto position = state.position;
  if (auto refusal = refuse_absent(stream, state, *now)) {
    return answer<HeadOutcome>(std::move(*refusal), stream.id, state, position);
  }
  return answer<HeadOutcome>(describe(stream.id, *state.newest, *now), stream.id, state, position);
}

}  // namespace morula
