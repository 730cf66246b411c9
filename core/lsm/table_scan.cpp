#include "core/lsm/table_scan.hpp"

#include <utility>

namespace morula {

TableScan::TableScan(std::shared_ptr<const Table> table, Prefix clip, uint64_t window_bytes)
    : table_(std::move(table)), clip_(clip), window_bytes_(window_bytes) {}

Result<> TableScan::read_more() {
  if (!started_) {
    auto index = table_->index();
    if (!index) return fail(std::move(index).error());
    index_ = BlockCursor(*std::move(index));
    index_.seek_first();
    started_ = true;
  }
  if (rows_.damaged() || undecodable_) return fail(table_->undecodable());
  blocks_.clear();
  next_block_ = 0;
  for (; index_.valid(); index_.next()) {
    const auto handle = BlockHandle::decode(index_.row().value);
    if (!handle) return fail(table_->undecodable());
    const bool fits = blocks_.empty() || handle->end() - blocks_[0].offset <= window_bytes_;
    if (!fits) break;
    blocks_.push_back(*handle);
  }
  if (index_.damaged()) return fail(table_->undecodable());
  if (!blocks_.empty()) {
    auto window = table_->read_blocks(blocks_);
    if (!window) return fail(std::move(window).error());
    window_ = *std::move(window);
    bytes_read_ += window_->size();
  }
  settle();
  return {};
}

void TableScan::next() {
  rows_.next();
  settle();
}

void TableScan::settle() {
  for (;;) {
    for (; rows_.valid(); rows_.next()) {
      const auto parts = row_key::parse(table_->tree(), rows_.row().key);
      undecodable_ = !parts;
      if (undecodable_) return;
      parts_ = *parts;
      if (clip_.contains(parts_.id)) return;
    }
    if (rows_.damaged()) return;
    if (next_block_ == blocks_.size()) {
      ended_ = !index_.valid();
      return;
    }
    const BlockHandle& block = blocks_[next_block_++];
    const uint64_t begin = block.offset - blocks_[0].offset;
    rows_ = BlockCursor({window_, std::string_view(*window_).substr(begin, block.length)});
    rows_.seek_first();
  }
}

}  // namespace morula
