#include <algorithm>
#include <utility>

#include "core/base/units.hpp"
#include "core/lsm/table.hpp"

namespace morula {
namespace {

constexpr uint64_t kAheadBytesMin = 128 * kKiB;  // of a walk that has passed its first block

}  // namespace

TableCursor::TableCursor(std::shared_ptr<const Table> table, ReadAhead ahead)
    : table_(std::move(table)), ahead_(std::move(ahead)), ahead_bytes_(ahead_.bytes_first) {}

Result<bool> TableCursor::look_for(std::string_view key) {
  const StreamId id = row_key::stream_id(key);
  const std::string_view stream = key.substr(0, row_key::kStreamBytes);
  looked_ = false;
  auto within = seek_section(key);
  while (within && *within && !looked_) {
    looked_ = stream_filter_may_contain(filter_, id);
    // Where a section ends within a stream, the next one has more of it.
    if (looked_ || !top_.row().key.starts_with(stream)) break;
    within = next_section(key);
  }
  if (!within) return fail(std::move(within).error());
  return looked_;
}

Result<> TableCursor::seek(std::string_view key) {
  if (!std::exchange(looked_, false)) {
    const auto within = seek_section(key);
    if (!within) return fail(within.error());
    if (!*within) return {};
  }
  index_.seek(key);
  if (!index_.valid()) return undecodable();
  MORULA_TRY(enter_block());
  rows_.seek(key);
  return leave_ended_block();
}

Result<bool> TableCursor::seek_section(std::string_view key) {
  rows_ = BlockCursor();
  top_ = BlockCursor(table_->top_);
  top_.seek(key);  // an entry's key is at least the last one of what it names
  return enter_section(key);
}

Result<bool> TableCursor::next_section(std::string_view key) {
  top_.next();
  return enter_section(key);
}

Result<> TableCursor::next() {
  rows_.next();
  return leave_ended_block();
}

Result<> TableCursor::leave_ended_block() {
  while (!rows_.valid()) {
    if (rows_.damaged()) return undecodable();
    index_.next();
    if (index_.damaged()) return undecodable();
    if (!index_.valid()) {
      const auto within = next_section({});
      if (!within) return fail(within.error());
      if (!*within) return {};
      index_.seek_first();
      if (!index_.valid()) return undecodable();
    }
    MORULA_TRY(enter_block());
    rows_.seek_first();
  }
  return {};
}

Result<bool> TableCursor::enter_section(std::string_view key) {
  index_ = BlockCursor();
  if (top_.damaged()) return fail(table_->undecodable());
  if (!top_.valid()) return false;
  auto block = table_->section_block(top_, {key, ahead_.last_key, ahead_bytes_});
  if (!block) return fail(std::move(block).error());
  const auto parts = SectionParts::of(block->bytes);
  if (!parts) return fail(table_->undecodable());
  filter_ = parts->filter;
  index_ = BlockCursor({std::move(block->owner), parts->index});
  return true;
}

Result<> TableCursor::enter_block() {
  rows_ = BlockCursor();
  const auto handle = BlockHandle::decode(index_.row().value);
  if (!handle) return undecodable();
  auto block = table_->row_block(*handle, blocks_ahead(*handle));
  ahead_bytes_ = std::min(std::max(4 * ahead_bytes_, kAheadBytesMin), ahead_.bytes_max);
  if (!block) return fail(std::move(block).error());
  rows_ = BlockCursor(*std::move(block));
  return {};
}

std::vector<BlockHandle> TableCursor::blocks_ahead(const BlockHandle& first) const {
  std::vector<BlockHandle> blocks;
  if (ahead_bytes_ <= first.length || table_->cache_.contains({table_->number_, first.offset})) {
    return blocks;
  }
  uint64_t end = first.end();
  BlockCursor index = index_;
  // A block is worth reading when the one before it ends at or below the last key wanted.
  while (index.row().key < ahead_.last_key) {
    index.next();
    if (!index.valid()) break;
    const auto handle = BlockHandle::decode(index.row().value);
    if (!handle || handle->offset != end || handle->end() - first.offset > ahead_bytes_) break;
    if (table_->cache_.contains({table_->number_, handle->offset})) break;
    end = handle->end();
    blocks.push_back(*handle);
  }
  return blocks;
}

Result<> TableCursor::undecodable() {
  rows_ = BlockCursor();
  return fail(table_->undecodable());
}

}  // namespace morula
