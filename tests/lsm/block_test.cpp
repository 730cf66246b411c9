#include "core/lsm/block.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/lsm/random_rows.hpp"

namespace morula {
namespace {

Block block_of(std::string bytes) {
  const Blob blob = make_blob(std::move(bytes));
  return {blob, *blob};
}

std::string block_bytes(const TreeModel& rows) {
  BlockBuilder builder(BlockType::kRows);
  for (const auto& [key, row] : rows) builder.add({key, row.change, row.deleted, row.value});
  const size_t promised = builder.bytes();
  std::string bytes = builder.finish();
  EXPECT_EQ(bytes.size(), promised);
  return bytes;
}

RC_GTEST_PROP(Block, IsReadBackAndSought, ()) {
  TreeModel model;
  for (const Row& row :
       *rc::gen::nonEmpty(rc::gen::container<std::vector<Row>>(rows_of(Tree::kMeta)))) {
    model_put(model, row);
  }
  BlockCursor cursor(block_of(block_bytes(model)));
  RC_ASSERT(!cursor.valid());
  cursor.seek_first();
  for (const auto& [key, row] : model) {
    RC_ASSERT(cursor.valid());
    RC_ASSERT(cursor.row().copy(Tree::kMeta) == row);
    cursor.next();
  }
  RC_ASSERT(!cursor.valid() && !cursor.damaged());
  const std::string key = *meta_keys();
  cursor.seek(key);
  const auto expected = model.lower_bound(key);
  RC_ASSERT(cursor.valid() == (expected != model.end()));
  if (cursor.valid()) RC_ASSERT(cursor.row().copy(Tree::kMeta) == expected->second);
}

RC_GTEST_PROP(Block, KeysShareTheirPrefixes, ()) {
  const auto streams = *rc::gen::inRange<uint64_t>(1, 20);
  TreeModel model;
  uint64_t key_bytes = 0;
  for (uint64_t n = 0; n < 200; ++n) {
    const std::string key = row_key::data({1, n % streams}, Generation(1), {n, n});
    key_bytes += key.size();
    model_put(model, {Tree::kData, key, ChangeNumber(n), false, ""});
  }
  RC_ASSERT(block_bytes(model).size() < key_bytes / 2);
}

/// Walks whatever it is given; the sanitizers watch.
void walk(const std::string& bytes, const std::string& key) {
  BlockCursor cursor(block_of(bytes));
  size_t rows = 0;
  for (cursor.seek_first(); cursor.valid(); cursor.next()) RC_ASSERT(++rows <= bytes.size());
  cursor.seek(key);
  while (cursor.valid()) cursor.next();
}

RC_GTEST_PROP(Block, DamagedBytesAreNeverReadBeyond, (std::string garbage, uint32_t place)) {
  walk(garbage, *meta_keys());
  TreeModel model;
  for (const Row& row :
       *rc::gen::nonEmpty(rc::gen::container<std::vector<Row>>(rows_of(Tree::kMeta)))) {
    model_put(model, row);
  }
  std::string bytes = block_bytes(model);
  bytes[place % bytes.size()] = *rc::gen::arbitrary<char>();
  walk(bytes, *meta_keys());
  walk(bytes.substr(place % bytes.size()), *meta_keys());
  walk(bytes.substr(0, place % bytes.size()), *meta_keys());
}

}  // namespace
}  // namespace morula
