// Walks a whole table once, for compaction: it reads a large window at a time, past the block
// cache, whose content is left to those who read streams.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/prefix.hpp"
#include "core/lsm/table.hpp"

namespace morula {

class TableScan {
 public:
  /// From the first row whose key is `first` or greater. Rows outside `clip` are passed over.
  TableScan(std::shared_ptr<const Table> table, Prefix clip, uint64_t window_bytes,
            std::string first = {});

  /// There may be more rows, but the window has none left: `read_more` first.
  bool wants_more() const { return !valid() && !ended_; }
  /// Reads the next window. Suspends. Errors: those of Table.
  Result<> read_more();

  // Pure: these may be called in Compute.
  bool valid() const { return rows_.valid() && !undecodable_; }
  /// Valid until the scan moves.
  RowView row() const { return rows_.row(); }
  const row_key::Parts& parts() const { return parts_; }
  void next();

  /// Of windows so far.
  uint64_t bytes_read() const { return bytes_read_; }

 private:
  /// To the next row that counts, within the window.
  void settle();
  /// To the next block of rows; false when the window has no more.
  bool enter_next_block();

  std::shared_ptr<const Table> table_;
  Prefix clip_;
  uint64_t window_bytes_;
  std::string first_;
  bool started_ = false;
  bool ended_ = false;
  BlockCursor top_;
  Blob window_;
  std::vector<SectionHandle> sections_;  // of the window
  size_t next_section_ = 0;
  BlockCursor index_;  // of the section
  BlockCursor rows_;
  row_key::Parts parts_;      // of the row; its suffix lies in the row's key
  bool undecodable_ = false;  // a row has a key that is none of this tree
  uint64_t bytes_read_ = 0;
};

}  // namespace morula
