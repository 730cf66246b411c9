// Writes tables: sorted, immutable files of the rows of one tree.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "core/lsm/block.hpp"
#include "core/lsm/key_range.hpp"
#include "core/lsm/memtable.hpp"
#include "core/lsm/row.hpp"
#include "core/lsm/section.hpp"

namespace morula {

struct TableOptions {
  size_t block_bytes = 0;      // of a block, about
  uint64_t section_bytes = 0;  // a section is cut when its blocks have so many

  /// Blocks of 4 KiB for meta (a cold append reads one), of 32 KiB for data (reads are scans), of
  /// 16 KiB for the index (a page of a listing is some 10 KiB).
  /// Sections are as small as the memory for their places allows: a cold read may have to take a
  /// whole one.
  static TableOptions of(Tree tree);
};

class TableBuilder {
 public:
  explicit TableBuilder(Tree tree) : TableBuilder(tree, TableOptions::of(tree)) {}
  TableBuilder(Tree tree, TableOptions options);

  /// Keys must ascend, each once. A row that is larger than a block gets one of its own.
  void add(const RowView& row);
  uint64_t rows() const { return rows_; }
  /// Of the object so far, without the top index, if its last block is not packed.
  uint64_t bytes() const { return bytes_.size() + block_.bytes(); }
  /// At least one row has been added.
  KeyRange streams() const;
  /// The table's object. At least one row has been added; nothing is called afterwards.
  std::string finish();

 private:
  std::string_view place(std::string_view key) const { return row_key::place(tree_, key); }
  /// Whether the block ends before the row `next` that would bring it to `bytes`.
  bool is_full(std::string_view next, uint64_t bytes) const;
  /// `next`: the key of the row that follows; empty at the end.
  void cut_block(std::string_view next);
  void cut_section(std::string_view last);

  Tree tree_;
  TableOptions options_;
  std::string bytes_;
  BlockBuilder block_{BlockType::kRows};
  SectionBuilder section_;
  uint64_t section_begin_ = 0;  // in bytes_
  BlockBuilder index_{BlockType::kIndex, kIndexRestartInterval};
  uint64_t streams_ = 0;
  std::string first_key_;
  std::string last_key_;
  uint64_t rows_ = 0;
  uint64_t tombstones_ = 0;
};

struct BuiltTable {
  std::string bytes;
  KeyRange streams;
};

/// The flush: all rows of `tree` in these memtables, within their clips, as one table, tombstones
/// included, the row with the highest change number where several have a key. nullopt when there is
/// no row. Pure: for Compute::run, on memtables that nobody puts into meanwhile.
std::optional<BuiltTable> build_table(std::span<const ClippedMemtable> memtables, Tree tree);

}  // namespace morula
