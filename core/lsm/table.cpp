#include "core/lsm/table.hpp"

#include <algorithm>
#include <utility>

#include "core/base/check.hpp"
#include "core/rt/clock.hpp"
#include "core/rt/random.hpp"
#include "core/rt/store.hpp"
#include "core/rt/trace.hpp"

namespace morula {
namespace {

constexpr int kReadsOfDamage = 16;             // that each show other bytes
constexpr uint64_t kWholeObject = UINT64_MAX;  // its offset as a block of the cache

bool may_be_repeated(ErrorCode code) {
  return outcome_unknown(code) || code == ErrorCode::kThrottled;
}

std::string_view part_at(std::string_view bytes, uint64_t begin, const BlockHandle& handle) {
  if (handle.offset < begin || handle.end() > begin + bytes.size()) return {};
  return bytes.substr(handle.offset - begin, handle.length);
}

}  // namespace

Table::Table(Private, const Env& env, BlockCache& cache, std::string key, uint64_t bytes, Tree tree,
             const TableReadConfig& config)
    : env_(env),
      cache_(cache),
      key_(std::move(key)),
      bytes_(bytes),
      tree_(tree),
      config_(config),
      number_(cache.next_table()),
      ranges_(env.store.abilities().ranges) {}

Result<std::shared_ptr<const Table>> Table::open(const Env& env, BlockCache& cache, std::string key,
                                                 uint64_t bytes, Tree tree,
                                                 const TableReadConfig& config) {
  if (bytes <= kTableHeaderBytes + TableFooter::kBytes) {
    return fail(ErrorCode::kCorrupt, "table " + key + ": too short for a table");
  }
  auto table = std::make_shared<Table>(Private{}, env, cache, std::move(key), bytes, tree, config);
  MORULA_TRY(table->read_tail());
  return table;
}

Result<> Table::read_tail() {
  if (!ranges_) {
    const auto whole = cache_.get({number_, kWholeObject}, [this] { return load_whole(); });
    if (!whole) return fail(whole.error());
    const std::string_view object = **whole;
    footer_ = *TableFooter::decode(object.substr(bytes_ - TableFooter::kBytes), bytes_);
    return {};
  }
  const uint64_t length = std::min(bytes_, std::max(config_.tail_bytes, TableFooter::kBytes));
  MORULA_TRY(read(ByteRange{bytes_ - length, length},
                  [this](const Blob& tail) { return use_tail(*tail); }));
  // What did not fit into the tail.
  if (footer_.filter.offset < bytes_ - length) {
    const auto filter = block(footer_.filter, BlockType::kFilter);
    if (!filter) return fail(filter.error());
  }
  return {};
}

Result<> Table::use_tail(std::string_view tail) {
  const uint64_t begin = bytes_ - tail.size();
  const auto footer = TableFooter::decode(tail.substr(tail.size() - TableFooter::kBytes), bytes_);
  if (!footer) return fail(footer.error());
  if (footer->tree != tree_) {
    return fail(ErrorCode::kCorrupt, "it is a table of the " +
                                         std::string(to_string(footer->tree)) + " tree, not of " +
                                         std::string(to_string(tree_)));
  }
  if (begin == 0 && !tail.starts_with(table_header(tree_))) {
    return fail(ErrorCode::kCorrupt, "header: it is damaged");
  }
  if (footer->filter.offset >= begin) {
    const std::string_view filter = part_at(tail, begin, footer->filter);
    const std::string_view index = part_at(tail, begin, footer->index);
    MORULA_TRY(check_block(filter, footer->filter, BlockType::kFilter));
    MORULA_TRY(check_block(index, footer->index, BlockType::kIndex));
    cache_.put({number_, footer->filter.offset}, make_blob(std::string(filter)));
    cache_.put({number_, footer->index.offset}, make_blob(std::string(index)));
  }
  footer_ = *footer;
  return {};
}

Result<bool> Table::may_contain(StreamId id) const {
  const auto filter = block(footer_.filter, BlockType::kFilter);
  if (!filter) return fail(filter.error());
  return stream_filter_may_contain(filter->bytes, id);
}

Result<std::optional<Row>> Table::find(std::string_view key) const {
  TableCursor cursor(shared_from_this());
  MORULA_TRY(cursor.seek(key));
  if (!cursor.valid() || cursor.row().key != key) return std::nullopt;
  return cursor.row().copy(tree_);
}

Result<Block> Table::block(const BlockHandle& handle, BlockType type) const {
  if (!ranges_) return part_of_whole(handle);
  if (type == BlockType::kRows) return row_block(handle, {});
  const auto blob =
      cache_.get({number_, handle.offset}, [&] { return load_filter_or_index(type); });
  if (!blob) return fail(blob.error());
  return Block{*blob, **blob};
}

Result<Block> Table::row_block(const BlockHandle& handle, std::span<const BlockHandle> more) const {
  if (!ranges_) return part_of_whole(handle);
  const auto blob = cache_.get({number_, handle.offset}, [&] { return load_rows(handle, more); });
  if (!blob) return fail(blob.error());
  return Block{*blob, **blob};
}

Result<Block> Table::part_of_whole(const BlockHandle& handle) const {
  const auto whole = cache_.get({number_, kWholeObject}, [this] { return load_whole(); });
  if (!whole) return fail(whole.error());
  return Block{*whole, part_at(**whole, 0, handle)};
}

Result<Blob> Table::read_blocks(std::span<const BlockHandle> blocks) const {
  const ByteRange range{blocks.front().offset, blocks.back().end() - blocks.front().offset};
  if (!ranges_) {
    const auto whole = cache_.get({number_, kWholeObject}, [this] { return load_whole(); });
    if (!whole) return fail(whole.error());
    return make_blob((*whole)->substr(range.offset, range.length));
  }
  Blob window;
  const auto use = [&](const Blob& bytes) -> Result<> {
    for (const BlockHandle& handle : blocks) {
      MORULA_TRY(check_block(part_at(*bytes, range.offset, handle), handle, BlockType::kRows));
    }
    window = bytes;
    return {};
  };
  MORULA_TRY(read(range, use, Purpose::kCompaction));
  return window;
}

Error Table::undecodable() const {
  return {ErrorCode::kCorrupt, "table " + key_ + ": a block with a right checksum does not decode"};
}

Result<Blob> Table::load_rows(const BlockHandle& handle, std::span<const BlockHandle> more) const {
  const uint64_t end = more.empty() ? handle.end() : more.back().end();
  Blob rows;
  const auto use = [&](const Blob& bytes) -> Result<> {
    const std::string_view first = part_at(*bytes, handle.offset, handle);
    MORULA_TRY(check_block(first, handle, BlockType::kRows));
    for (const BlockHandle& next : more) {
      const std::string_view part = part_at(*bytes, handle.offset, next);
      MORULA_TRY(check_block(part, next, BlockType::kRows));
      cache_.put({number_, next.offset}, make_blob(std::string(part)));
    }
    rows = more.empty() ? bytes : make_blob(std::string(first));
    return {};
  };
  MORULA_TRY(read(ByteRange{handle.offset, end - handle.offset}, use));
  return rows;
}

Result<Blob> Table::load_filter_or_index(BlockType type) const {
  // They lie side by side, and who wants the one will want the other.
  const uint64_t begin = footer_.filter.offset;
  const uint64_t length = footer_.index.end() - begin;
  Blob filter;
  Blob index;
  const auto use = [&](const Blob& bytes) -> Result<> {
    const std::string_view first = part_at(*bytes, begin, footer_.filter);
    const std::string_view second = part_at(*bytes, begin, footer_.index);
    MORULA_TRY(check_block(first, footer_.filter, BlockType::kFilter));
    MORULA_TRY(check_block(second, footer_.index, BlockType::kIndex));
    filter = make_blob(std::string(first));
    index = make_blob(std::string(second));
    return {};
  };
  MORULA_TRY(read(ByteRange{begin, length}, use));
  const bool want_filter = type == BlockType::kFilter;
  cache_.put({number_, want_filter ? footer_.index.offset : begin}, want_filter ? index : filter);
  return want_filter ? filter : index;
}

Result<Blob> Table::load_whole() const {
  Blob whole;
  const auto use = [&](const Blob& bytes) -> Result<> {
    MORULA_TRY(check_table(*bytes, tree_));
    whole = bytes;
    return {};
  };
  MORULA_TRY(read(std::nullopt, use));
  return whole;
}

// One read may have flipped a bit on the way: damage counts when two reads in a row show the same.
Result<> Table::read(std::optional<ByteRange> range, const Use& use, Purpose purpose) const {
  const uint64_t expected = range ? range->length : bytes_;
  Blob last;
  for (int reads_left = kReadsOfDamage - 1;; --reads_left) {
    const Result<Blob> bytes = fetch(range, purpose);
    if (!bytes) return fail(bytes.error());
    Result<> used;
    if ((*bytes)->size() == expected) {
      used = use(*bytes);
    } else {
      used = fail(ErrorCode::kCorrupt, "the store gave " + std::to_string((*bytes)->size()) +
                                           " bytes instead of " + std::to_string(expected));
    }
    if (used || used.error().code != ErrorCode::kCorrupt) return used;
    const bool certain = reads_left == 0 || (last && *last == **bytes);
    env_.trace.sometimes("a table's bytes arrived damaged", !certain);
    env_.trace.log(certain ? Severity::kError : Severity::kWarning, "table_damaged",
                   {{"key", key_},
                    {"from", range ? range->offset : 0},
                    {"bytes", expected},
                    {"what", used.error().message}});
    if (certain) return fail(ErrorCode::kCorrupt, "table " + key_ + ": " + used.error().message);
    last = *bytes;
  }
}

Result<Blob> Table::fetch(std::optional<ByteRange> range, Purpose purpose) const {
  const Time give_up = env_.clock.now() + config_.give_up_after;
  Duration backoff = config_.retry.backoff_min;
  for (;;) {
    RequestOptions options;
    options.deadline = std::min(give_up, env_.clock.now() + config_.retry.attempt_timeout);
    options.purpose = purpose;
    auto object = env_.store.get(key_, range, options);
    if (object) return std::move(object->body);
    Error error = std::move(object).error();
    error.message = "table " + key_ + ": " + error.message;
    // An invalid range means that it is too short.
    if (error.code == ErrorCode::kInvalid) error.code = ErrorCode::kCorrupt;
    if (!may_be_repeated(error.code)) return fail(std::move(error));
    const auto pause = Duration(static_cast<int64_t>(
        env_.random.between(backoff.count() / 2, std::max<int64_t>(backoff.count(), 1))));
    const Time next = env_.clock.now() +
                      std::max<Duration>(pause, std::chrono::milliseconds(error.retry_after_ms));
    if (next >= give_up) return fail(ErrorCode::kUnavailable, std::move(error.message));
    env_.clock.sleep_until(next);
    backoff = std::min(2 * backoff, config_.retry.backoff_max);
  }
}

}  // namespace morula
