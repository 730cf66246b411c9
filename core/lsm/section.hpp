// Sections: what a table is made of, so that no reader needs to have all of its index. A section
// is some blocks of rows, side by side, and behind them one block that names them and tells which
// streams have rows there. Footer and top index, which names the sections, are a few bytes for each
// 100 KiB of rows; everything else is read where it is needed, and a section that is in no cache is
// read as one range, rows and all. Format: core/lsm/FORMAT.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/ids.hpp"
#include "core/base/result.hpp"
#include "core/lsm/block.hpp"
#include "core/lsm/stream_filter.hpp"
#include "core/lsm/table_format.hpp"

namespace morula {

/// Writes a section's own block.
class SectionBuilder {
 public:
  /// Streams ascend; repeats of the last are free.
  void add_stream(StreamId id) { filter_.add(id); }
  /// A block of rows. `last` is at least its last key and below the first of the next block.
  void add_block(std::string_view last, const BlockHandle& block);
  bool empty() const { return index_.empty(); }
  /// The section's block; the builder is empty afterwards.
  std::string finish();

 private:
  StreamFilterBuilder filter_;
  BlockBuilder index_{BlockType::kIndex, kIndexRestartInterval};
};

/// The parts of a section's block.
struct SectionParts {
  std::string_view filter;
  std::string_view index;  // a block of its own: entries as in the top index, of blocks of rows

  /// nullopt when `block`, whose checksum was right, is none.
  static std::optional<SectionParts> of(std::string_view block);
};

/// Where a section lies; an entry of the top index.
struct SectionHandle {
  uint64_t rows_bytes = 0;  // of the blocks of rows right before `block`
  BlockHandle block;

  uint64_t begin() const { return block.offset - rows_bytes; }
  uint64_t end() const { return block.end(); }

  std::string encode() const;
  /// kCorrupt, also when it would begin within the table's header.
  static Result<SectionHandle> decode(std::string_view bytes);
};

/// Looks at a section's own block and at its blocks of rows; `bytes`, of the table's object from
/// `begin` on, hold them all. kCorrupt, naming the block.
Result<> check_section(std::string_view bytes, uint64_t begin, const SectionHandle& section);

/// A short key that is at least `last` and below `next`: what an index says instead of the last key
/// of a block.
std::string_view separator(std::string_view last, std::string_view next);

}  // namespace morula
