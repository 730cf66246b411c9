// Tables that are wrong behind right checksums: readers say so or read rows, and always end.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/lsm/block_cache.hpp"
#include "core/lsm/stream_filter.hpp"
#include "core/lsm/table.hpp"
#include "core/lsm/table_builder.hpp"
#include "sim/world/test_world.hpp"
#include "tests/base/damage.hpp"

namespace morula {
namespace {

constexpr const char* kKey = "sst/a/1.sst";
constexpr size_t kFooterFieldsAt = 2;  // behind tree and levels: handles and counts
constexpr size_t kFooterFieldsEnd = 74;

std::string sound_table() {
  TableBuilder builder(Tree::kMeta, {200});
  for (uint64_t n = 1; n < 40; ++n) {
    const std::string key = row_key::meta({n, 1}, Generation(1), RowKind::kHot);
    builder.add({key, ChangeNumber(n), n % 5 == 0, "value of a row"});
  }
  return builder.finish();
}

TableFooter footer_of(std::string_view table) {
  return TableFooter::decode(table.substr(table.size() - TableFooter::kBytes), table.size())
      .value();
}

std::vector<BlockHandle> row_blocks(const std::string& table) {
  const BlockHandle index = footer_of(table).index;
  std::vector<BlockHandle> blocks;
  BlockCursor cursor(Block{nullptr, std::string_view(table).substr(index.offset, index.length)});
  for (cursor.seek_first(); cursor.valid(); cursor.next()) {
    blocks.push_back(BlockHandle::decode(cursor.row().value).value());
  }
  return blocks;
}

/// Damages the block, which keeps its place and length; its new handle.
BlockHandle damage_block(std::string& table, const BlockHandle& handle, Random& random) {
  std::string block = damaged(table.substr(handle.offset, handle.length), random);
  block.resize(handle.length);
  if (random.chance(7, 8)) block[0] = table[handle.offset];  // else another type
  table.replace(handle.offset, handle.length, block);
  return BlockHandle::of(block, handle.offset);
}

void replace_footer(std::string& table, const TableFooter& footer) {
  table.replace(table.size() - TableFooter::kBytes, TableFooter::kBytes, footer.encode());
}

/// One part is damaged, and everything that has its checksum follows.
std::string damaged_table(std::string table, Random& random) {
  TableFooter footer = footer_of(table);
  switch (random.below(4)) {
    case 0: {  // a block of rows
      const std::vector<BlockHandle> blocks = row_blocks(table);
      const BlockHandle old = blocks[random.below(blocks.size())];
      const std::string now = damage_block(table, old, random).encode();
      table.replace(table.find(old.encode(), footer.index.offset), now.size(), now);
      const std::string_view index =
          std::string_view(table).substr(footer.index.offset, footer.index.length);
      footer.index = BlockHandle::of(index, footer.index.offset);
      break;
    }
    case 1:
      footer.index = damage_block(table, footer.index, random);
      break;
    case 2:
      footer.filter = damage_block(table, footer.filter, random);
      break;
    default: {  // the footer itself
      std::string bytes = footer.encode();
      const size_t at = random.between(kFooterFieldsAt, kFooterFieldsEnd - 1);
      bytes[at] = static_cast<char>(random.next());
      std::string sum;
      Encoder(sum).u64(checksum(std::string_view(bytes).substr(0, bytes.size() - 16)));
      bytes.replace(bytes.size() - 16, sum.size(), sum);
      table.replace(table.size() - bytes.size(), bytes.size(), bytes);
      return table;
    }
  }
  replace_footer(table, footer);
  return table;
}

/// Reads everything there is, every way there is; the error that ended it, if one did.
std::optional<Error> read_all(const Env& env, BlockCache& cache, uint64_t bytes) {
  TableReadConfig config;
  config.tail_bytes = 1;
  const auto table = Table::open(env, cache, kKey, bytes, Tree::kMeta, config);
  if (!table) return table.error();
  std::optional<Error> error;
  for (uint64_t n = 0; n < 40; n += 13) {
    const auto may = (*table)->may_contain({n, 1});
    if (!may) error = may.error();
    const auto row = (*table)->find(row_key::meta({n, 1}, Generation(1), RowKind::kHot));
    if (!row) error = row.error();
  }
  TableCursor cursor(*table, {std::string(64, '\xff'), 1000, 500});
  size_t rows = 0;
  for (auto moved = cursor.seek("");; moved = cursor.next()) {
    if (!moved) return moved.error();
    if (!cursor.valid()) return error;
    if (++rows > bytes) {
      ADD_FAILURE() << "more rows than bytes";
      return error;
    }
  }
}

TEST(Table, DamageBehindRightChecksumsIsReadOrRefused) {
  const std::string sound = sound_table();
  sim::TestWorld world;
  Random random(20261129);
  size_t refused = 0;
  for (int i = 0; i < 1500; ++i) {
    SCOPED_TRACE("draw " + std::to_string(i));
    const std::string wrong = damaged_table(sound, random);
    const auto checked = check_table(wrong, Tree::kMeta);
    EXPECT_TRUE(checked || checked.error().code == ErrorCode::kCorrupt);
    world.store().plant(kKey, wrong);
    world.run([&](const Env& env) {
      BlockCache cache(kMiB);
      const auto error = read_all(env, cache, wrong.size());
      if (!error) return;
      EXPECT_EQ(error->code, ErrorCode::kCorrupt) << error->message;
      ++refused;
    });
  }
  EXPECT_GT(refused, 500u);
}

}  // namespace
}  // namespace morula
