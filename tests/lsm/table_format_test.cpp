#include "core/lsm/table_format.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/lsm/table_builder.hpp"
#include "tests/lsm/random_rows.hpp"

namespace morula {
namespace {

std::string small_table(Tree tree = Tree::kMeta) {
  TableBuilder builder(tree, {200, 500});
  for (uint64_t n = 1; n < 30; ++n) {
    const StreamId id{n / 3, 1};
    const std::string key = tree == Tree::kMeta ? row_key::meta(id, Generation(n), RowKind::kHot)
                                                : row_key::data(id, Generation(1), Offset{n, n});
    if (tree == Tree::kMeta && n % 3 != 0) continue;  // one generation a stream, in key order
    const Row row = row_of(tree, key, n);
    builder.add({row.key, row.change, row.deleted, row.value});
  }
  return builder.finish();
}

TEST(Table, EveryFlippedBitIsFound) {
  for (const Tree tree : {Tree::kMeta, Tree::kData}) {
    const std::string table = small_table(tree);
    ASSERT_TRUE(check_table(table, tree));
    for (size_t place = 0; place < table.size(); ++place) {
      for (int bit = 0; bit < 8; ++bit) {
        std::string damaged = table;
        damaged[place] = static_cast<char>(damaged[place] ^ (1 << bit));
        const auto checked = check_table(damaged, tree);
        ASSERT_FALSE(checked) << place << "." << bit;
        ASSERT_EQ(checked.error().code, ErrorCode::kCorrupt);
      }
    }
  }
}

TEST(Table, EveryMissingOrAddedByteIsFound) {
  const std::string table = small_table();
  for (size_t length = 0; length < table.size(); ++length) {
    ASSERT_FALSE(check_table(table.substr(0, length), Tree::kMeta)) << length;
    ASSERT_FALSE(check_table(table.substr(table.size() - length), Tree::kMeta)) << length;
    ASSERT_FALSE(check_table(table.substr(0, length) + "x" + table.substr(length), Tree::kMeta));
  }
  EXPECT_FALSE(check_table(table + table, Tree::kMeta));
}

TEST(Table, ATableOfTheOtherTreeIsRefused) {
  EXPECT_FALSE(check_table(small_table(Tree::kMeta), Tree::kData));
  EXPECT_FALSE(check_table(small_table(Tree::kData), Tree::kMeta));
}

TEST(Table, AnotherFormatIsRefusedByNumber) {
  TableFooter footer;
  footer.rows = 1;
  footer.index = {110, 10, 2};
  std::string bytes = footer.encode();
  ASSERT_TRUE(TableFooter::decode(bytes, 120 + bytes.size()));
  bytes[bytes.size() - 24] = 1;
  std::string sum;
  Encoder(sum).u64(checksum(std::string_view(bytes).substr(0, bytes.size() - 16)));
  bytes.replace(bytes.size() - 16, 8, sum);
  const auto read = TableFooter::decode(bytes, 120 + bytes.size());
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("table format 1"), std::string::npos) << read.error().message;
}

TEST(Table, CountsItsRowsTombstonesAndStreams) {
  TableBuilder builder(Tree::kMeta);
  for (uint64_t n = 0; n < 10; ++n) {
    const std::string key = row_key::meta({n / 2, 0}, Generation(2 - n % 2), RowKind::kHot);
    builder.add({key, ChangeNumber(1), n < 3, "v"});
  }
  const std::string table = builder.finish();
  const auto footer =
      TableFooter::decode(table.substr(table.size() - TableFooter::kBytes), table.size());
  ASSERT_TRUE(footer);
  EXPECT_EQ(footer->rows, 10u);
  EXPECT_EQ(footer->tombstones, 3u);
  EXPECT_EQ(footer->streams, 5u);
}

RC_GTEST_PROP(TableFooter, GarbageIsRefused, (const std::string& bytes, uint64_t object_bytes)) {
  RC_ASSERT(!TableFooter::decode(bytes, object_bytes));
  RC_ASSERT(!check_table(bytes, Tree::kMeta));
}

}  // namespace
}  // namespace morula
