// Tables that are wrong behind right checksums: readers say so or read rows, and always end.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/lsm/block_cache.hpp"
#include "core/lsm/section.hpp"
#include "core/lsm/table.hpp"
#include "core/lsm/table_builder.hpp"
#include "sim/world/test_world.hpp"
#include "tests/base/damage.hpp"

namespace morula {
namespace {

constexpr const char* kKey = "sst/a/1.sst";
constexpr size_t kFooterFieldsAt = 1;  // behind the tree: handle, counts, first key
constexpr size_t kFooterFieldsEnd = 90;

std::string sound_table() {
  TableBuilder builder(Tree::kMeta, {200, 600});
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

std::string_view bytes_of(std::string_view table, const BlockHandle& handle) {
  return table.substr(handle.offset, handle.length);
}

std::vector<SectionHandle> sections_of(std::string_view table) {
  std::vector<SectionHandle> sections;
  BlockCursor cursor(Block{nullptr, bytes_of(table, footer_of(table).index)});
  for (cursor.seek_first(); cursor.valid(); cursor.next()) {
    sections.push_back(SectionHandle::decode(cursor.row().value).value());
  }
  return sections;
}

std::vector<BlockHandle> row_blocks(std::string_view table, const SectionHandle& section) {
  std::vector<BlockHandle> blocks;
  BlockCursor cursor(Block{nullptr, SectionParts::of(bytes_of(table, section.block))->index});
  for (cursor.seek_first(); cursor.valid(); cursor.next()) {
    blocks.push_back(BlockHandle::decode(cursor.row().value).value());
  }
  return blocks;
}

/// Damages the block, which keeps its place and length.
void damage_block(std::string& table, const BlockHandle& handle, Random& random) {
  std::string block = damaged(table.substr(handle.offset, handle.length), random);
  block.resize(handle.length);
  if (random.chance(7, 8)) block[0] = table[handle.offset];  // else another type
  table.replace(handle.offset, handle.length, block);
}

/// Writes the block's new checksum into its handle, which lies within `place`.
void mend_handle(std::string& table, const BlockHandle& old, const BlockHandle& place) {
  const std::string now = BlockHandle::of(bytes_of(table, old), old.offset).encode();
  const size_t at = table.find(old.encode(), place.offset);
  if (at < place.end()) table.replace(at, now.size(), now);
}

void mend_footer(std::string& table, TableFooter footer) {
  footer.index = BlockHandle::of(bytes_of(table, footer.index), footer.index.offset);
  table.replace(table.size() - TableFooter::kBytes, TableFooter::kBytes, footer.encode());
}

std::string with_damaged_footer(std::string table, Random& random) {
  std::string bytes = footer_of(table).encode();
  const size_t at = random.between(kFooterFieldsAt, kFooterFieldsEnd - 1);
  bytes[at] = static_cast<char>(random.next());
  std::string sum;
  Encoder(sum).u64(checksum(std::string_view(bytes).substr(0, bytes.size() - 16)));
  bytes.replace(bytes.size() - 16, sum.size(), sum);
  table.replace(table.size() - bytes.size(), bytes.size(), bytes);
  return table;
}

/// One part is damaged, and everything that has its checksum follows.
std::string damaged_table(std::string table, Random& random) {
  const TableFooter footer = footer_of(table);
  const std::vector<SectionHandle> sections = sections_of(table);
  const SectionHandle section = sections[random.below(sections.size())];
  switch (random.below(4)) {
    case 0: {  // a block of rows
      const std::vector<BlockHandle> blocks = row_blocks(table, section);
      const BlockHandle rows = blocks[random.below(blocks.size())];
      damage_block(table, rows, random);
      mend_handle(table, rows, section.block);
      mend_handle(table, section.block, footer.index);
      break;
    }
    case 1:
      damage_block(table, section.block, random);
      mend_handle(table, section.block, footer.index);
      break;
    case 2:
      damage_block(table, footer.index, random);
      break;
    default:
      return with_damaged_footer(std::move(table), random);
  }
  mend_footer(table, footer);
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
    const auto may = TableCursor(*table).look_for(row_key::stream({n, 1}));
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
