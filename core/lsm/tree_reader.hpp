// One tree of a shard as its readers see it: memtables and tables merged, the newest row of each
// key.
//
// "Newest" is the highest (generation, change number), never the age of the file that holds it. A
// row of a memtable or table outside its clip does not exist; who asks for a stream asks for one of
// the shard. Tables are asked only where their filter says that they may hold the stream. Rows that
// are put while a call waits for the store may be missing from its result.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "core/base/prefix.hpp"
#include "core/base/result.hpp"
#include "core/lsm/key_range.hpp"
#include "core/lsm/memtable.hpp"
#include "core/lsm/row.hpp"
#include "core/lsm/table.hpp"

namespace morula {

/// A table, and the part of the hash space that it counts for.
struct ClippedTable {
  std::shared_ptr<const Table> table;
  Prefix clip;
  KeyRange streams;  // the places of its first and its last row
};

/// What to read from. A reader works on the copy that it was given: a flush that replaces memtables
/// by a table meanwhile doesn't disturb it.
struct TreeSources {
  std::vector<ClippedMemtable> memtables;  // the active one and the frozen ones
  std::vector<ClippedTable> tables;        // of the tree
};

/// Rows of one generation of the data tree: in order, from the first that ends after `from` to the
/// last that ends at or before `to`. Each row that is given away moves `from` behind it, so that a
/// scan which broke off can be taken up again.
struct DataScan {
  StreamId id;
  Generation generation;
  Offset from;
  Offset to;
  uint64_t bytes_max = 0;  // stops after the row with which the values' bytes reach it
  uint64_t rows = 0;       // given away: at least one, if there is one
  uint64_t bytes = 0;      // of their values
};

/// Rows of any tree by their keys: those from `from` to before `end`, in order. Each row that is
/// given away moves `from` behind it, so that a scan which broke off can be taken up again.
struct RangeScan {
  std::string from;
  std::string end;
};

/// Gets rows where they lie: each view is valid during the call, which must not suspend. False: no
/// more are wanted. An error ends the scan and is its result.
using TakeRow = std::function<Result<bool>(const RowView&)>;

/// All methods may suspend for store reads and may be called by many fibers at once. Errors: those
/// of Table.
class TreeReader {
 public:
  TreeReader(Tree tree, TreeSources sources) : tree_(tree), sources_(std::move(sources)) {}

  /// Of the meta tree: the hot row of the stream's newest generation, a tombstone included; nullopt
  /// when it has none.
  Result<std::optional<Row>> find_hot(StreamId id) const;
  /// The newest row of exactly this key, a tombstone included.
  Result<std::optional<Row>> find(std::string_view key) const;
  /// Of the data tree. Deleted rows are left out.
  Result<> scan_data(DataScan& scan, const TakeRow& take) const;
  /// Of any tree, tombstones included. A table is read from where the scan comes to it.
  Result<> scan_range(RangeScan& scan, const TakeRow& take) const;

  const TreeSources& sources() const { return sources_; }

 private:
  /// Cursors of the tables that may have rows of the stream of `key` from there on; each is next to
  /// seek that key.
  Result<std::vector<TableCursor>> cursors_at(std::string_view key,
                                              const TableCursor::ReadAhead& ahead) const;

  /// The part of a scan from the key `from` to before `to`, both within its bounds. False: it is
  /// over.
  Result<bool> scan_piece(DataScan& scan, std::string_view from, std::string_view to,
                          const TakeRow& take) const;
  /// The part of a scan from `scan.from` to before `to`. False: it is over.
  Result<bool> scan_range_piece(RangeScan& scan, std::string_view to, const TakeRow& take) const;

  Tree tree_;
  TreeSources sources_;
};

}  // namespace morula
