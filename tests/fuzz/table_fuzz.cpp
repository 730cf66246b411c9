// The parts of a table: its footer, and blocks whose checksums are right.
#include "core/lsm/block.hpp"
#include "core/lsm/packed_block.hpp"
#include "core/lsm/section.hpp"
#include "core/lsm/stream_filter.hpp"
#include "core/lsm/table_format.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace morula {
namespace {

/// Every row that the block shows is in order, and a seek finds it.
void walk(std::string_view bytes, Tree tree) {
  BlockCursor cursor(Block{nullptr, bytes});
  BlockCursor finder(Block{nullptr, bytes});
  std::string last;
  for (cursor.seek_first(); cursor.valid(); cursor.next()) {
    const RowView row = cursor.row();
    (void)row_key::parse(tree, row.key);
    if (row.key <= last && !last.empty()) return;  // damage that a checksum would have shown
    last = row.key;
    finder.seek(last);
    if (finder.valid()) fuzz::expect(finder.row().key >= last, "a seek does not go back");
  }
}

}  // namespace
}  // namespace morula

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace morula;
  if (size == 0) return 0;
  const std::string_view bytes = fuzz::text_of(data, size).substr(1);
  switch (data[0] % 4) {
    case 0:
      (void)check_table(bytes, Tree::kMeta);
      break;
    case 1: {
      (void)TableFooter::decode(bytes, bytes.size() + 1000);
      (void)BlockHandle::decode(bytes);
      (void)SectionHandle::decode(bytes);
      if (const auto parts = SectionParts::of(bytes)) walk(parts->index, Tree::kMeta);
      (void)unpack_block({nullptr, bytes});
      break;
    }
    case 2:
      walk(bytes, data[0] & 4 ? Tree::kMeta : Tree::kData);
      break;
    default:
      (void)stream_filter_may_contain(bytes, StreamId{data[0], size});
      break;
  }
  return 0;
}
