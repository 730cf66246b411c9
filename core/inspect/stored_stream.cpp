#include "core/inspect/stored_stream.hpp"

#include "core/inspect/stored_cell.hpp"
#include "core/inspect/stored_rows.hpp"
#include "core/stream/offset.hpp"
#include "core/stream/rows.hpp"

namespace morula {

namespace {

using How = StoredStreamEnd::How;

constexpr uint64_t kCacheBytes = 64 * kMiB;
constexpr int kViewsMax = 20;  // of a bucket that changes faster than it is read

/// The pieces of a JSON stream's reads, each an array, as one array.
class ArrayJoiner {
 public:
  explicit ArrayJoiner(const std::function<void(std::string_view)>& write) : write_(write) {}

  void add(std::string_view array) {
    const std::string_view messages = array.substr(1, array.size() - 2);
    if (messages.empty()) return;
    write_(first_ ? "[" : ",");
    write_(messages);
    first_ = false;
  }
  void finish() { write_(first_ ? "[]" : "]"); }

 private:
  const std::function<void(std::string_view)>& write_;
  bool first_ = true;
};

StoredStreamEnd ended(How how, std::string why) {
  StoredStreamEnd end;
  end.how = how;
  end.why = std::move(why);
  return end;
}

class Reader {
 public:
  Reader(const Env& env, const RetryConfig& retry, const StoredStreamRequest& request,
         const std::function<void(std::string_view)>& write)
      : env_(env), retry_(retry), request_(request), write_(write), array_(write) {}

  Result<StoredStreamEnd> run();

 private:
  Result<StoredStreamEnd> read(const StoredCell& view);
  Result<StoredStreamEnd> read_pieces(StoredRows& rows);
  Result<std::optional<StoredStreamEnd>> why_absent(StoredRows& rows) const;

  const Env& env_;
  const RetryConfig& retry_;
  const StoredStreamRequest& request_;
  const std::function<void(std::string_view)>& write_;
  ArrayJoiner array_;
  StreamHash stream_;
  std::optional<Generation> generation_;  // of what was written already
  Offset position_;                       // up to here
};

// Trim and flush go on meanwhile: what looks missing may be gone because its rows are in a table
// that a newer manifest names. It counts as damage only if the documents are still the same. (A
// trim never takes the last W batches, so what it took shows as a hole, not as a shorter log.)
Result<StoredStreamEnd> Reader::run() {
  auto view = view_stored_cell(env_, retry_);
  MORULA_TRY(view);
  for (int views = 1;; ++views) {
    if (!view->cell && !view->topology && view->damaged.empty()) {
      return fail(ErrorCode::kNotFound, "there is no cell in this place");
    }
    if (!view->damaged.empty()) {
      std::string text = view->damaged.begin()->first;
      text.append(": ").append(view->damaged.begin()->second);
      return fail(ErrorCode::kCorrupt, std::move(text));
    }
    if (!view->cell) return fail(ErrorCode::kCorrupt, "cell.json is missing");
    if (!view->topology) return ended(How::kNeverCreated, "the cell holds no streams yet");
    stream_ = StreamHasher(view->cell->hash_secret)(request_.tenant, request_.path);
    auto read_now = read(*view);
    if (read_now) return read_now;
    auto next = view_stored_cell(env_, retry_);
    MORULA_TRY(next);
    if (next->same_as(*view)) {
      Error error = std::move(read_now).error();
      if (error.code == ErrorCode::kNotFound) error.code = ErrorCode::kCorrupt;  // it is named
      return fail(std::move(error));
    }
    if (views == kViewsMax) {
      return fail(ErrorCode::kUnavailable,
                  "the cell changes faster than it can be read from here; try again");
    }
    view = std::move(next);
  }
}

Result<StoredStreamEnd> Reader::read(const StoredCell& view) {
  BlockCache cache(kCacheBytes);
  auto rows = StoredRows::open(env_, retry_, cache, view, stream_.id);
  MORULA_TRY(rows);
  auto absent = why_absent(**rows);
  MORULA_TRY(absent);
  if (*absent) return std::move(**absent);
  return read_pieces(**rows);
}

Result<std::optional<StoredStreamEnd>> Reader::why_absent(StoredRows& rows) const {
  const auto row = rows.find_hot(stream_.id);
  MORULA_TRY(row);
  if (!*row) return ended(How::kNeverCreated, "there is no such stream, and there never was");
  const auto hot = decode_hot((*row)->value);
  if (!hot) return fail(ErrorCode::kCorrupt, "the stream's row: " + hot.error().message);
  if (hot->check != stream_.check) {
    return ended(How::kCollision, "another stream has this one's id");
  }
  if ((*row)->deleted) {
    return ended(How::kDeleted, "the stream was deleted; it had reached " + offset_text(hot->tail));
  }
  if (hot->deadline && *hot->deadline <= rows.wall()) {
    return ended(How::kExpired, "the stream has expired; it had reached " + offset_text(hot->tail));
  }
  return std::nullopt;
}

Result<StoredStreamEnd> Reader::read_pieces(StoredRows& rows) {
  Streams streams(env_, rows, {});
  ReadRequest wish;
  wish.stream = stream_;
  wish.renews = false;
  for (;;) {
    if (generation_ || request_.offset) {
      wish.from = ReadRequest::From::kOffset;
      wish.offset = generation_ ? position_ : *request_.offset;
    }
    ReadOutcome outcome = streams.read(wish);
    if (auto* unserved = std::get_if<Unserved>(&outcome)) return fail(unserved->error);
    if (const auto* refused = std::get_if<Refused>(&outcome)) {
      return ended(refused->why == Refusal::kInvalidOffset ? How::kInvalidOffset : How::kExpired,
                   refused->message);
    }
    auto& answer = std::get<ReadAnswer>(outcome);
    if (generation_ && *generation_ != answer.info.generation) {
      return ended(How::kDeleted, "the stream was deleted and created again while it was read");
    }
    generation_ = answer.info.generation;
    position_ = answer.end;
    answer.info.json ? array_.add(answer.body) : write_(answer.body);
    if (!answer.up_to_date) continue;
    if (answer.info.json) array_.finish();
    StoredStreamEnd end;
    end.info = answer.info;
    end.end = answer.end;
    return end;
  }
}

}  // namespace

Result<StoredStreamEnd> read_stored_stream(const Env& env, const RetryConfig& retry,
                                           const StoredStreamRequest& request,
                                           const std::function<void(std::string_view)>& write) {
  return Reader(env, retry, request, write).run();
}

}  // namespace morula
