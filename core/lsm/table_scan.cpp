#include "core/lsm/table_scan.hpp"

#include <utility>

#include "core/lsm/packed_block.hpp"

namespace morula {

TableScan::TableScan(std::shared_ptr<const Table> table, Prefix clip, uint64_t window_bytes,
                     std::string first)
    : table_(std::move(table)),
      clip_(clip),
      window_bytes_(window_bytes),
      first_(std::move(first)) {}

Result<> TableScan::read_more() {
  if (!started_) {
    top_ = BlockCursor(table_->top_index());
    top_.seek(first_);  // an entry's key is at least the last of what it names
    started_ = true;
  }
  if (rows_.damaged() || undecodable_) return fail(table_->undecodable());
  sections_.clear();
  next_section_ = 0;
  for (; top_.valid(); top_.next()) {
    const auto section = SectionHandle::decode(top_.row().value);
    if (!section) return fail(table_->undecodable());
    if (!sections_.empty() && section->begin() != sections_.back().end()) {
      return fail(table_->undecodable());
    }
    const bool fits = sections_.empty() || section->end() - sections_[0].begin() <= window_bytes_;
    if (!fits) break;
    sections_.push_back(*section);
  }
  if (top_.damaged()) return fail(table_->undecodable());
  if (!sections_.empty()) {
    auto window = table_->read_sections(sections_);
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
  do {
    for (; rows_.valid(); rows_.next()) {
      if (rows_.row().key < first_) continue;
      const auto parts = row_key::parse(table_->tree(), rows_.row().key);
      undecodable_ = !parts;
      if (undecodable_) return;
      parts_ = *parts;
      if (clip_.contains(parts_.id)) return;
    }
  } while (!rows_.damaged() && enter_next_block());
}

bool TableScan::enter_next_block() {
  const auto part = [this](const BlockHandle& handle) {
    return part_at(*window_, sections_[0].begin(), handle);
  };
  if (index_.valid()) index_.next();
  while (!index_.valid()) {
    if (next_section_ == sections_.size()) {
      ended_ = !top_.valid();
      return false;
    }
    const auto parts = SectionParts::of(part(sections_[next_section_++].block));
    undecodable_ = !parts;
    if (undecodable_) return false;
    index_ = BlockCursor({window_, parts->index});
    index_.seek_first();
  }
  const auto handle = BlockHandle::decode(index_.row().value);
  auto rows = handle ? unpack_block({window_, part(*handle)}) : fail(handle.error());
  undecodable_ = !rows;
  if (undecodable_) return false;
  rows_ = BlockCursor(*std::move(rows));
  rows_.seek_first();
  return true;
}

}  // namespace morula
