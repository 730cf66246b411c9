#include <algorithm>

#include "core/base/units.hpp"
#include "core/lsm/table.hpp"

namespace morula {
namespace {

constexpr uint64_t kAheadBytesMin = 128 * kKiB;  // of a walk that has passed its first block

}  // namespace

TableCursor::TableCursor(std::shared_ptr<const Table> table, ReadAhead ahead)
    : table_(std::move(table)), ahead_(std::move(ahead)), ahead_bytes_(ahead_.bytes_first) {}

Result<> TableCursor::seek(std::string_view key) {
  rows_ = BlockCursor();
  auto index = table_->block(table_->footer_.index, BlockType::kIndex);
  if (!index) return fail(std::move(index).error());
  index_ = BlockCursor(*std::move(index));
  index_.seek(key);  // an index entry has the last key of its block
  if (index_.damaged()) return undecodable();
  if (!index_.valid()) return {};
  MORULA_TRY(enter_block());
  rows_.seek(key);
  return leave_ended_block();
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
    if (!index_.valid()) return {};
    MORULA_TRY(enter_block());
    rows_.seek_first();
  }
  return {};
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
