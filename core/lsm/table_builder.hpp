// Writes tables: sorted, immutable files of the rows of one tree.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "core/lsm/block.hpp"
#include "core/lsm/memtable.hpp"
#include "core/lsm/row.hpp"
#include "core/lsm/stream_filter.hpp"
#include "core/lsm/stream_range.hpp"

namespace morula {

struct TableOptions {
  size_t block_bytes = 0;  // a block is cut when the next row would pass it

  /// 4 KiB for meta (a cold append reads one), 32 KiB for data (reads are scans).
  static TableOptions of(Tree tree);
};

class TableBuilder {
 public:
  explicit TableBuilder(Tree tree) : TableBuilder(tree, TableOptions::of(tree)) {}
  TableBuilder(Tree tree, TableOptions options);

  /// Keys must ascend, each once. A row that is larger than a block gets one of its own.
  void add(const RowView& row);
  uint64_t rows() const { return rows_; }
  /// Of the object so far, without index and filter.
  uint64_t bytes() const { return bytes_.size() + block_.bytes(); }
  /// At least one row has been added.
  StreamRange streams() const;
  /// The table's object. At least one row has been added; nothing is called afterwards.
  std::string finish();

 private:
  void cut_block();

  Tree tree_;
  TableOptions options_;
  std::string bytes_;
  BlockBuilder block_{BlockType::kRows};
  BlockBuilder index_{BlockType::kIndex};
  StreamFilterBuilder filter_;
  StreamId first_;
  std::string last_key_;
  uint64_t rows_ = 0;
  uint64_t tombstones_ = 0;
};

struct BuiltTable {
  std::string bytes;
  StreamRange streams;
};

/// The flush: all rows of `tree` in these memtables as one table, tombstones included, the row with
/// the highest change number where several have a key. nullopt when there is no row. Pure: for
/// Compute::run, on memtables that nobody puts into meanwhile.
std::optional<BuiltTable> build_table(std::span<const std::shared_ptr<const Memtable>> memtables,
                                      Tree tree);

}  // namespace morula
