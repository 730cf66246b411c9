// Reads tables where they lie: in the store, a block at a time, through the block cache.
//
// A Table itself is a few hundred bytes and its top index, which is some 20 bytes for each section
// and charged to the cache. All else is in the cache only: sections' blocks, blocks of rows. A look
// at a stream reads at most once: a section that isn't there is read with its rows, and of those
// what was looked for is kept. A store without range reads gives the whole object, which is then
// kept in the cache as one block.
//
// Where the cache has a second tier, what is missing is looked for there first, and what was read
// in the store is offered to it (table_tier.cpp).
//
// Damage: every byte that is used has been covered by a checksum. Bytes that don't match are read
// again (they may have been damaged on the way); then it is kCorrupt, naming object and block.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/base/result.hpp"
#include "core/lsm/block.hpp"
#include "core/lsm/block_cache.hpp"
#include "core/lsm/row.hpp"
#include "core/lsm/second_tier.hpp"
#include "core/lsm/section.hpp"
#include "core/lsm/table_format.hpp"
#include "core/rt/env.hpp"
#include "core/store/conditional.hpp"

namespace morula {

struct TableReadConfig {
  RetryConfig retry;                                  // pace of repeated reads
  Duration give_up_after = std::chrono::seconds(15);  // a block that can't be read: kUnavailable
  uint64_t tail_bytes = 16 * kKiB;    // read at open: footer, and top index of most tables
  std::optional<Purpose> opened_for;  // what these reads are for; nullopt: as later ones
};

class Table : public std::enable_shared_from_this<Table> {
  struct Private {};

 public:
  /// Reads the table's tail: one request when footer and top index fit into it, two otherwise.
  /// `env` and `cache` outlive the table. Suspends. kCorrupt: there is no table of
  /// `tree` with these `bytes`; kNotFound: it is gone; kUnavailable: the store did not give it in
  /// time; kDenied. The same of every method that may suspend.
  static Result<std::shared_ptr<const Table>> open(const Env& env, BlockCache& cache,
                                                   std::string key, uint64_t bytes, Tree tree,
                                                   const TableReadConfig& config = {});
  Table(Private, const Env& env, BlockCache& cache, std::string key, uint64_t bytes, Tree tree,
        const TableReadConfig& config);

  /// The row of exactly this key, a tombstone included. May suspend.
  Result<std::optional<Row>> find(std::string_view key) const;

  // For those who walk the whole table (TableScan).
  /// Names the sections.
  const Block& top_index() const { return top_; }
  /// The bytes of these sections, which lie side by side, and of their rows; checked. Nothing of it
  /// goes into the cache, unless the store has no range reads. Suspends.
  Result<Blob> read_sections(std::span<const SectionHandle> sections) const;
  /// Offers all of the table to the cache's second tier; `object` is what was uploaded.
  void offer_all(const Blob& object) const;
  /// No manifest names the table any more: the second tier needs not keep it.
  void leave_tier() const;
  /// What to say of bytes that have a right checksum and make no sense.
  Error undecodable() const;

  const std::string& key() const { return key_; }
  Tree tree() const { return tree_; }
  uint64_t bytes() const { return bytes_; }
  uint64_t rows() const { return footer_.rows; }
  const TableFooter& footer() const { return footer_; }

 private:
  friend class TableCursor;

  /// Rows that somebody is after: from `key` (empty: the section's first) to `last_key` (empty:
  /// only the one). What has to be read for them is read in pieces of at most `bytes_max`, but at
  /// least a block or section.
  struct Want {
    std::string_view key;
    std::string_view last_key;
    uint64_t bytes_max = 0;
  };
  /// The block of the section at which `top`, a cursor of the top index, stands. If it is missing,
  /// it is read with its rows, and so are the sections behind it as far as `want` goes; what is
  /// wanted of them is kept in the cache. May suspend.
  Result<Block> section_block(const BlockCursor& top, const Want& want) const;
  /// A block of rows; those of `more`, which lie right behind it, are read along with it if it is
  /// missing, and kept in the cache. May suspend.
  Result<Block> row_block(const BlockHandle& handle, std::span<const BlockHandle> more) const;
  Result<Block> part_of_whole(const BlockHandle& handle, BlockType type) const;

  // What the cache calls for a block that it lacks.
  Result<Blob> load_rows(const BlockHandle& handle, std::span<const BlockHandle> more) const;
  Result<Blob> load_sections(std::span<const SectionHandle> sections, const Want& want) const;
  Result<Blob> load_whole() const;
  /// Puts into the cache what is wanted of a section that was read; `bytes` begin at `begin`.
  Result<> keep_wanted(std::string_view bytes, uint64_t begin, const SectionHandle& section,
                       const Want& want) const;

  /// Puts a block of rows, which is sound, into the cache.
  Result<> keep_rows(const BlockHandle& handle, std::string_view stored) const;

  // The second tier. What is taken from there is sound, or null.
  static std::optional<TierTable> tier_identity(std::string_view key);
  /// Null when there is none.
  SecondTier* tier() const;
  Blob from_tier(const BlockHandle& handle, BlockType type) const;
  /// Unpacked.
  Result<Blob> rows_from_tier(const BlockHandle& handle) const;
  bool use_tail_of_tier();
  void offer(const BlockHandle& handle, const Blob& owner, std::string_view block) const;
  /// `owner` holds the section, of the object from `begin` on. Not `sound`: its rows are looked at.
  void offer_section(const Blob& owner, uint64_t begin, const SectionHandle& section,
                     bool sound) const;
  /// `tail` ends where the object does.
  void offer_tail(std::string_view tail) const;

  /// Reads footer and top index.
  Result<> read_tail();
  Result<> use_tail(std::string_view tail);
  Result<> use_top(std::string_view top);

  using Use = std::function<Result<>(const Blob& bytes)>;
  /// Reads the range, or the whole object, and hands it to `use`; again if that says kCorrupt.
  Result<> read(std::optional<ByteRange> range, const Use& use) const {
    return read(range, use, read_purpose());
  }
  Purpose read_purpose() const {
    switch (tree_) {
      case Tree::kMeta:
        return Purpose::kMetaRead;
      case Tree::kData:
        return Purpose::kDataRead;
      case Tree::kIndex:
        return Purpose::kIndexRead;
    }
    return Purpose::kDataRead;
  }
  Result<> read(std::optional<ByteRange> range, const Use& use, Purpose purpose) const;
  /// One read, repeated until the store answers or `give_up_after` has passed.
  Result<Blob> fetch(std::optional<ByteRange> range, Purpose purpose) const;

  const Env env_;
  BlockCache& cache_;
  const std::string key_;
  const uint64_t bytes_;
  const Tree tree_;
  const TableReadConfig config_;
  const std::optional<TierTable> identity_;  // in the second tier; only tables of a cell have one
  const uint64_t number_;                    // in the cache
  const bool ranges_;                        // the store has range reads
  TableFooter footer_;
  Block top_;
  BlockCache::Charge charge_;
};

/// Walks a table's rows in key order. Holds the table and the block that it stands in, whatever the
/// cache evicts.
class TableCursor {
 public:
  /// How far a walk will go: blocks up to there are read together with the first one that is
  /// missing.
  struct ReadAhead {
    std::string last_key;      // no row above it is wanted
    uint64_t bytes_max = 0;    // read at most so many at once; 0: block by block
    uint64_t bytes_first = 0;  // the first time; from then on four times more each time
  };
  explicit TableCursor(std::shared_ptr<const Table> table) : TableCursor(std::move(table), {}) {}
  TableCursor(std::shared_ptr<const Table> table, ReadAhead ahead);

  /// Whether rows of the stream of `key` may follow from that key on; false is certain. Suspends
  /// only if the section is not in the cache; then what is wanted of it is read along with it.
  Result<bool> look_for(std::string_view key);
  /// It said that they may. The next call is a seek to that key, which goes on from there.
  bool promising() const { return looked_; }
  /// From now on reads ahead as much as it may.
  void hurry() { ahead_bytes_ = ahead_.bytes_max; }

  /// To the first row whose key is `key` or greater. May suspend. After an error the cursor is not
  /// valid.
  Result<> seek(std::string_view key);
  Result<> next();
  bool valid() const { return rows_.valid(); }
  /// Valid until the cursor moves.
  RowView row() const { return rows_.row(); }

 private:
  // False when there is none; all rows are before it. `key` is the next that is wanted.
  Result<bool> seek_section(std::string_view key);
  Result<bool> next_section(std::string_view key);
  Result<bool> enter_section(std::string_view key);
  /// Enters the block of rows that the section's index stands at.
  Result<> enter_block();
  /// The blocks of the section behind the one that its index stands at, as far as read-ahead goes.
  std::vector<BlockHandle> blocks_ahead(const BlockHandle& first) const;
  /// From the end of a block of rows to the start of the next.
  Result<> leave_ended_block();
  Result<> undecodable();

  std::shared_ptr<const Table> table_;
  ReadAhead ahead_;
  uint64_t ahead_bytes_;  // now
  bool looked_ = false;
  BlockCursor top_;
  std::string_view filter_;  // of the section that `index_` holds
  BlockCursor index_;        // of the section
  BlockCursor rows_;
};

}  // namespace morula
