// Where things are in a table's object, and what its last bytes say. Format: core/lsm/FORMAT.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/lsm/block.hpp"
#include "core/lsm/row.hpp"

namespace morula {

/// A block's place and its checksum. Each handle lies in a block or footer that has a checksum of
/// its own, so that a block of another place or another table is found out, too.
struct BlockHandle {
  uint64_t offset = 0;
  uint64_t length = 0;
  uint64_t checksum = 0;

  /// The handle of `block` lying at `offset`.
  static BlockHandle of(std::string_view block, uint64_t offset);
  std::string encode() const;
  static Result<BlockHandle> decode(std::string_view bytes);
  uint64_t end() const { return offset + length; }
  friend bool operator==(const BlockHandle&, const BlockHandle&) = default;
};

/// The end of every table.
struct TableFooter {
  static constexpr uint32_t kFormat = 2;
  static constexpr size_t kBytes = 128;  // fixed, so that it is found from the end
  static constexpr size_t kFirstKeyBytes = 40;

  Tree tree = Tree::kMeta;
  BlockHandle index;  // the top index, which names the sections; ends where the footer begins
  uint64_t rows = 0;
  uint64_t tombstones = 0;  // of `rows`
  uint64_t streams = 0;
  std::string first_key;  // of the first row; its first 40 bytes, if it is longer

  std::string encode() const;
  /// kCorrupt, saying what is wrong, unless `bytes` is the footer of a table of `object_bytes`.
  static Result<TableFooter> decode(std::string_view bytes, uint64_t object_bytes);
};

/// The start of every table: magic, format and checksum. Readers begin at the end.
std::string table_header(Tree tree);
inline constexpr uint64_t kTableHeaderBytes = 24;

/// The block that `handle` names; empty unless it lies in `bytes`, which are the table's from
/// `begin` on.
std::string_view part_at(std::string_view bytes, uint64_t begin, const BlockHandle& handle);
/// kCorrupt, saying what is wrong, unless `bytes` is the block that `handle` names. Blocks of rows
/// may be packed ones.
Result<> check_block(std::string_view bytes, const BlockHandle& handle, BlockType type);
/// Looks at every byte of a table's object. kCorrupt, naming the block.
Result<> check_table(std::string_view object, Tree tree);

}  // namespace morula
