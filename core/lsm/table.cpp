#include "core/lsm/table.hpp"

#include <algorithm>
#include <utility>

#include "core/base/check.hpp"
#include "core/lsm/packed_block.hpp"
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

}  // namespace

Table::Table(Private, const Env& env, BlockCache& cache, std::string key, uint64_t bytes, Tree tree,
             const TableReadConfig& config)
    : env_(env),
      cache_(cache),
      key_(std::move(key)),
      bytes_(bytes),
      tree_(tree),
      config_(config),
      identity_(tier_identity(key_)),
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
  if (use_tail_of_tier()) return {};
  if (!ranges_) {
    const auto whole = cache_.get({number_, kWholeObject}, [this] { return load_whole(); });
    if (!whole) return fail(whole.error());
    MORULA_TRY(use_tail(**whole));
    offer_all(*whole);
    return {};
  }
  const uint64_t length = std::min(bytes_, std::max(config_.tail_bytes, TableFooter::kBytes));
  const Purpose purpose = config_.opened_for.value_or(read_purpose());
  const auto tail = [this](const Blob& bytes) -> Result<> {
    MORULA_TRY(use_tail(*bytes));
    offer_tail(*bytes);
    return {};
  };
  MORULA_TRY(read(ByteRange{bytes_ - length, length}, tail, purpose));
  if (!top_.bytes.empty()) return {};
  const auto top = [this](const Blob& bytes) { return use_top(*bytes); };
  return read(ByteRange{footer_.index.offset, footer_.index.length}, top, purpose);
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
  footer_ = *footer;
  return footer_.index.offset < begin ? Result<>() : use_top(part_at(tail, begin, footer_.index));
}

Result<> Table::use_top(std::string_view top) {
  MORULA_TRY(check_block(top, footer_.index, BlockType::kIndex));
  const Blob blob = make_blob(std::string(top));
  top_ = {blob, *blob};
  charge_ = BlockCache::Charge(cache_, blob->size());
  return {};
}

Result<std::optional<Row>> Table::find(std::string_view key) const {
  TableCursor cursor(shared_from_this());
  const auto maybe = cursor.look_for(key);
  MORULA_TRY(maybe);
  if (!*maybe) return std::nullopt;
  MORULA_TRY(cursor.seek(key));
  if (!cursor.valid() || cursor.row().key != key) return std::nullopt;
  return cursor.row().copy(tree_);
}

Result<Block> Table::section_block(const BlockCursor& top, const Want& want) const {
  const auto section = SectionHandle::decode(top.row().value);
  if (!section) return fail(undecodable());
  if (!ranges_) return part_of_whole(section->block, BlockType::kSection);
  const auto blob = cache_.get({number_, section->block.offset}, [&]() -> Result<Blob> {
    if (Blob kept = from_tier(section->block, BlockType::kSection)) return kept;
    std::vector<SectionHandle> sections{*section};
    for (BlockCursor next = top; next.row().key < want.last_key;) {
      next.next();
      if (!next.valid()) break;
      const auto more = SectionHandle::decode(next.row().value);
      if (!more || more->begin() != sections.back().end()) break;
      if (more->end() - section->begin() > want.bytes_max) break;
      sections.push_back(*more);
    }
    return load_sections(sections, want);
  });
  if (!blob) return fail(blob.error());
  return Block{*blob, **blob};
}

Result<Block> Table::row_block(const BlockHandle& handle, std::span<const BlockHandle> more) const {
  if (!ranges_) {
    auto stored = part_of_whole(handle, BlockType::kRows);
    MORULA_TRY(stored);
    return unpack_block(*std::move(stored));
  }
  const auto blob = cache_.get({number_, handle.offset}, [&]() -> Result<Blob> {
    const auto kept = rows_from_tier(handle);
    return !kept || *kept ? kept : load_rows(handle, more);
  });
  if (!blob) return fail(blob.error());
  return Block{*blob, **blob};
}

Result<Block> Table::part_of_whole(const BlockHandle& handle, BlockType type) const {
  if (!cache_.contains({number_, kWholeObject})) {
    if (Blob kept = from_tier(handle, type)) return Block{kept, *kept};
  }
  const auto whole = cache_.get({number_, kWholeObject}, [this] { return load_whole(); });
  if (!whole) return fail(whole.error());
  return Block{*whole, part_at(**whole, 0, handle)};
}

Result<Blob> Table::read_sections(std::span<const SectionHandle> sections) const {
  const ByteRange range{sections.front().begin(), sections.back().end() - sections.front().begin()};
  if (!ranges_) {
    const auto whole = cache_.get({number_, kWholeObject}, [this] { return load_whole(); });
    if (!whole) return fail(whole.error());
    return make_blob((*whole)->substr(range.offset, range.length));
  }
  Blob window;
  const auto use = [&](const Blob& bytes) -> Result<> {
    for (const SectionHandle& section : sections) {
      MORULA_TRY(check_section(*bytes, range.offset, section));
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
    offer(handle, bytes, first);
    for (const BlockHandle& next : more) {
      const std::string_view part = part_at(*bytes, handle.offset, next);
      MORULA_TRY(check_block(part, next, BlockType::kRows));
      offer(next, bytes, part);
      MORULA_TRY(keep_rows(next, part));
    }
    auto unpacked = unpack_block({bytes, first});
    MORULA_TRY(unpacked);
    rows = unpacked->bytes.size() == unpacked->owner->size() ? std::move(unpacked->owner)
                                                             : make_blob(std::string(first));
    return {};
  };
  MORULA_TRY(read(ByteRange{handle.offset, end - handle.offset}, use));
  return rows;
}

Result<Blob> Table::load_sections(std::span<const SectionHandle> sections, const Want& want) const {
  const uint64_t begin = sections.front().begin();
  Blob first;
  const auto use = [&](const Blob& bytes) -> Result<> {
    for (const SectionHandle& section : sections) {
      const std::string_view block = part_at(*bytes, begin, section.block);
      MORULA_TRY(check_block(block, section.block, BlockType::kSection));
      MORULA_TRY(keep_wanted(*bytes, begin, section, want));
      offer_section(bytes, begin, section, false);
      Blob blob = make_blob(std::string(block));
      if (section.block == sections.front().block) {
        first = std::move(blob);
      } else {
        cache_.put({number_, section.block.offset}, std::move(blob));
      }
    }
    return {};
  };
  MORULA_TRY(read(ByteRange{begin, sections.back().end() - begin}, use));
  return first;
}

Result<> Table::keep_wanted(std::string_view bytes, uint64_t begin, const SectionHandle& section,
                            const Want& want) const {
  const auto parts = SectionParts::of(part_at(bytes, begin, section.block));
  if (!parts) return {};  // whoever asked finds out
  // A stream that isn't here must not cost others their place.
  const bool of_a_stream = tree_ != Tree::kIndex && want.key.size() >= row_key::kStreamBytes;
  if (of_a_stream && !stream_filter_may_contain(parts->filter, row_key::stream_id(want.key))) {
    return {};
  }
  BlockCursor index(Block{nullptr, parts->index});
  for (index.seek(want.key); index.valid(); index.next()) {
    const auto handle = BlockHandle::decode(index.row().value);
    if (!handle) return {};
    const std::string_view block = part_at(bytes, begin, *handle);
    MORULA_TRY(check_block(block, *handle, BlockType::kRows));
    MORULA_TRY(keep_rows(*handle, block));
    if (want.last_key <= index.row().key) break;
  }
  return {};
}

Result<> Table::keep_rows(const BlockHandle& handle, std::string_view stored) const {
  const BlockKey key{number_, handle.offset};
  if (cache_.contains(key)) return {};
  auto rows = unpack_block({nullptr, stored});
  MORULA_TRY(rows);
  if (rows->owner == nullptr) rows->owner = make_blob(std::string(stored));
  cache_.put(key, std::move(rows->owner));
  return {};
}

Result<Blob> Table::load_whole() const {
  Blob whole;
  const auto use = [&](const Blob& bytes) -> Result<> {
    MORULA_TRY(check_table(*bytes, tree_));
    if (!top_.bytes.empty()) offer_all(bytes);
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
