// Reads tables where they lie: in the store, a block at a time, through the block cache.
//
// A Table itself is a few hundred bytes; its index and filter are in the cache like any block and
// are read again after an eviction. A store without range reads gives the whole object, which is
// then kept in the cache as one block.
//
// Damage: every byte that is used has been covered by a checksum. Bytes that don't match are read
// once more (they may have been damaged on the way); then it is kCorrupt, naming object and block.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/bytes.hpp"
#include "core/base/result.hpp"
#include "core/lsm/block.hpp"
#include "core/lsm/block_cache.hpp"
#include "core/lsm/row.hpp"
#include "core/lsm/table_format.hpp"
#include "core/rt/env.hpp"
#include "core/store/conditional.hpp"

namespace morula {

struct TableReadConfig {
  RetryConfig retry;                                  // pace of repeated reads
  Duration give_up_after = std::chrono::seconds(15);  // a block that can't be read: kUnavailable
  uint64_t tail_bytes = 64 * kKiB;  // read at open: footer, and index and filter of most tables
};

class Table : public std::enable_shared_from_this<Table> {
  struct Private {};

 public:
  /// Reads the table's tail: one request when footer, filter and index fit into it, two otherwise.
  /// `env` and `cache` outlive the table. kCorrupt when it is no table of `tree` with these
  /// `bytes`; kUnavailable, kNotFound, kDenied. Suspends.
  static Result<std::shared_ptr<const Table>> open(const Env& env, BlockCache& cache,
                                                   std::string key, uint64_t bytes, Tree tree,
                                                   const TableReadConfig& config = {});
  Table(Private, const Env& env, BlockCache& cache, std::string key, uint64_t bytes, Tree tree,
        const TableReadConfig& config);

  /// False: certainly no row of this stream is here. Suspends only if the filter has been evicted.
  Result<bool> may_contain(StreamId id) const;
  /// The row of exactly this key, a tombstone included. May suspend for one block. (Doesn't ask the
  /// filter.)
  Result<std::optional<Row>> find(std::string_view key) const;

  const std::string& key() const { return key_; }
  Tree tree() const { return tree_; }
  uint64_t bytes() const { return bytes_; }
  uint64_t rows() const { return footer_.rows; }
  const TableFooter& footer() const { return footer_; }

 private:
  friend class TableCursor;

  Result<> read_footer();
  /// The filter's or an index block, or a block of rows. May suspend.
  Result<Blob> block(const BlockHandle& handle, BlockType type) const;
  Result<Blob> load_block(const BlockHandle& handle, BlockType type) const;
  Result<Blob> load_tail() const;
  Result<Blob> whole_object() const;
  Result<Blob> fetch(std::optional<ByteRange> range) const;
  Result<> check_block(std::string_view bytes, const BlockHandle& handle, BlockType type) const;
  tl::unexpected<Error> damaged(std::string_view what, uint64_t offset) const;

  Env env_;
  BlockCache& cache_;
  std::string key_;
  uint64_t bytes_;
  Tree tree_;
  TableReadConfig config_;
  uint64_t number_;  // in the cache
  bool ranges_;      // the store has range reads
  TableFooter footer_;
};

/// Walks a table's rows in key order. Holds the table and the block that it stands in, whatever the
/// cache evicts.
class TableCursor {
 public:
  /// How far a walk will go: blocks up to it are read together with the first one that is missing.
  struct ReadAhead {
    std::string last_key;  // no row above it is wanted
    uint64_t bytes = 0;    // read at most so many at once; 0: block by block
  };
  explicit TableCursor(std::shared_ptr<const Table> table) : TableCursor(std::move(table), {}) {}
  TableCursor(std::shared_ptr<const Table> table, ReadAhead ahead);

  /// To the first row whose key is `key` or greater. May suspend. After an error the cursor is not
  /// valid.
  Result<> seek(std::string_view key);
  Result<> next();
  bool valid() const { return rows_.valid(); }
  /// Valid until the cursor moves.
  RowView row() const { return rows_.row(); }

 private:
  Result<> load_rows();
  Result<> settle();

  std::shared_ptr<const Table> table_;
  ReadAhead ahead_;
  BlockCursor index_;
  BlockCursor rows_;
};

}  // namespace morula
