// The parts of a table: its footer, and blocks whose checksums are right.
#include <algorithm>
#include <string>
#include <vector>

#include "core/lsm/block.hpp"
#include "core/lsm/packed_block.hpp"
#include "core/lsm/section.hpp"
#include "core/lsm/stream_filter.hpp"
#include "core/lsm/table_format.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace morula {
namespace {

/// The rows that `bytes` show as a block up to the first that is out of order. Where they are all
/// of it, and a builder writes them just so, every key is found, and leads to its row.
uint64_t walk(std::string_view bytes, Tree tree) {
  if (bytes.empty()) return 0;
  BlockCursor cursor(Block{nullptr, bytes});
  const auto type = static_cast<BlockType>(bytes[0]);
  BlockBuilder builder(
      type, type == BlockType::kIndex ? kIndexRestartInterval : BlockBuilder::kRestartInterval);
  std::vector<std::string> keys;
  for (cursor.seek_first(); cursor.valid(); cursor.next()) {
    const RowView row = cursor.row();
    (void)row_key::parse(tree, row.key);
    if (!keys.empty() && row.key <= keys.back()) return keys.size();
    keys.emplace_back(row.key);
    builder.add(row);
  }
  const uint64_t rows = keys.size();
  if (cursor.damaged() || rows == 0 || builder.finish() != bytes) return rows;
  BlockCursor finder(Block{nullptr, bytes});
  for (const std::string& key : keys) {
    finder.seek(key);
    fuzz::expect(finder.valid() && finder.row().key == key, "a key of a block is found");
  }
  return rows;
}

/// A table of one section, all of whose checksums are right: `first` of the bytes are its block of
/// rows, the others the section's own block, or none: then a right one.
std::string sealed_table(std::string_view bytes, size_t first, Tree tree) {
  first = std::min(first, bytes.size());
  std::string table = table_header(tree);
  const std::string_view rows_block = bytes.substr(0, first);
  const BlockHandle rows = BlockHandle::of(rows_block, table.size());
  table.append(rows_block);
  const std::string last(row_key::kStreamBytes, '\xff');
  std::string own(bytes.substr(first));
  if (own.empty()) {
    SectionBuilder section;
    section.add_block(last, rows);
    own = section.finish();
  }
  const SectionHandle section{rows_block.size(), BlockHandle::of(own, table.size())};
  table.append(own);
  BlockBuilder top(BlockType::kIndex, kIndexRestartInterval);
  top.add({last, ChangeNumber(), false, section.encode()});
  const std::string index = top.finish();
  TableFooter footer;
  footer.tree = tree;
  footer.index = BlockHandle::of(index, table.size());
  footer.rows = 1;
  footer.streams = 1;
  footer.first_key = row_key::meta(StreamId{}, Generation(1), RowKind::kHot);
  return table + index + footer.encode();
}

}  // namespace
}  // namespace morula

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace morula;
  if (size == 0) return 0;
  const std::string_view bytes = fuzz::text_of(data, size).substr(1);
  const Tree tree = data[0] & 64 ? Tree::kMeta : Tree::kData;
  switch (data[0] % 5) {
    case 0:
      (void)check_table(bytes, tree);
      break;
    case 4:
      if (bytes.size() >= 2) {
        const size_t first = static_cast<uint8_t>(bytes[0]) * 256u + static_cast<uint8_t>(bytes[1]);
        (void)check_table(sealed_table(bytes.substr(2), first, tree), tree);
      }
      break;
    case 1: {
      (void)TableFooter::decode(bytes, bytes.size() + 1000);
      (void)BlockHandle::decode(bytes);
      (void)SectionHandle::decode(bytes);
      if (const auto parts = SectionParts::of(bytes)) walk(parts->index, tree);
      if (const auto block = unpack_block({nullptr, bytes})) walk(block->bytes, tree);
      break;
    }
    case 2:
      walk(bytes, tree);
      break;
    default:
      (void)stream_filter_may_contain(bytes, StreamId{data[0], size});
      break;
  }
  return 0;
}
