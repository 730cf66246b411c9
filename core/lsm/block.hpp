// Blocks of rows inside a table: keys in order, each without the bytes that it shares with the one
// before. Every few rows a restart point has its whole key, for binary search. An index is the same
// with handles as values; its short keys are all restart points. Format: core/lsm/FORMAT.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/lsm/row.hpp"

namespace morula {

/// What the bytes after a block's first one are.
enum class BlockType : uint8_t { kRows = 0, kIndex = 1, kSection = 2, kPackedRows = 3 };
std::string_view to_string(BlockType type);

inline constexpr uint64_t kIndexRestartInterval = 1;

/// A block's bytes and what keeps them alive.
struct Block {
  Blob owner;
  std::string_view bytes;
};

class BlockBuilder {
 public:
  static constexpr uint64_t kRestartInterval = 16;  // rows

  explicit BlockBuilder(BlockType type, uint64_t restart_interval = kRestartInterval);

  /// Keys must ascend.
  void add(const RowView& row);
  bool empty() const { return rows_ == 0; }
  uint64_t rows() const { return rows_; }
  /// Of the block if it were finished now.
  size_t bytes() const { return bytes_.size() + 4 * restarts_.size() + 4; }
  /// The block's bytes; the builder is empty afterwards.
  std::string finish();

 private:
  BlockType type_;
  uint64_t restart_interval_;
  std::string bytes_;
  std::string last_key_;
  std::vector<uint32_t> restarts_;
  uint64_t rows_ = 0;
};

/// Walks a block. Never reads outside of it, whatever the bytes are: what does not decode ends the
/// walk with `damaged`.
class BlockCursor {
 public:
  BlockCursor() = default;
  /// Not valid until a seek. Holds the block.
  explicit BlockCursor(Block block);

  void seek_first();
  /// To the first row whose key is `key` or greater.
  void seek(std::string_view key);
  void next();
  bool valid() const { return valid_; }
  bool damaged() const { return damaged_; }
  /// Valid until the cursor moves.
  RowView row() const { return {key_, change_, deleted_, value_}; }

 private:
  size_t restart_count() const { return restarts_.size() / 4; }
  void go_to_restart(size_t index);
  void read_row();
  void fail();

  Blob owner_;
  std::string_view rows_;      // the encoded rows
  std::string_view restarts_;  // u32 each
  size_t position_ = 0;        // in rows_, of the row after the current one
  bool valid_ = false;
  bool damaged_ = false;
  std::string key_;
  ChangeNumber change_;
  bool deleted_ = false;
  std::string_view value_;
};

}  // namespace morula
