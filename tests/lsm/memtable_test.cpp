#include "core/lsm/memtable.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/lsm/random_rows.hpp"

namespace morula {
namespace {

TreeModel contents(const Memtable& memtable, Tree tree) {
  TreeModel rows;
  for (auto cursor = memtable.begin(tree); cursor.valid(); cursor.next()) {
    const Row row = cursor.row().copy(tree);
    EXPECT_TRUE(rows.empty() || rows.rbegin()->first < row.key) << "out of order";
    rows.emplace(row.key, row);
  }
  return rows;
}

RC_GTEST_PROP(Memtable, HoldsTheNewestRowOfEachKeyInOrder, ()) {
  const auto rows = *rc::gen::container<std::vector<Row>>(
      rc::gen::oneOf(rows_of(Tree::kMeta), rows_of(Tree::kData)));
  Memtable memtable;
  TreeModel models[2];
  for (const Row& row : rows) {
    TreeModel& model = models[static_cast<size_t>(row.tree)];
    const bool newest = !model.contains(row.key) || model[row.key].change < row.change;
    RC_ASSERT(memtable.put(row) == newest);
    model_put(model, row);
  }
  for (const Tree tree : {Tree::kMeta, Tree::kData}) {
    const TreeModel& model = models[static_cast<size_t>(tree)];
    RC_ASSERT(contents(memtable, tree) == model);
    RC_ASSERT(memtable.rows(tree) == model.size());
    const std::string key = *(tree == Tree::kMeta ? meta_keys() : data_keys());
    const auto found = memtable.find(tree, key);
    RC_ASSERT(found.has_value() == model.contains(key));
    if (found) RC_ASSERT(found->copy(tree) == model.at(key));
    const auto cursor = memtable.lower_bound(tree, key);
    const auto expected = model.lower_bound(key);
    RC_ASSERT(cursor.valid() == (expected != model.end()));
    if (cursor.valid()) RC_ASSERT(cursor.row().copy(tree) == expected->second);
  }
  RC_ASSERT(memtable.empty() == rows.empty());
}

RC_GTEST_PROP(Memtable, TheOrderOfPutsDoesNotShow, ()) {
  const auto rows = *rc::gen::container<std::vector<Row>>(rows_of(Tree::kMeta));
  Memtable forward;
  Memtable backward;
  for (auto row = rows.begin(); row != rows.end(); ++row) forward.put(*row);
  for (auto row = rows.rbegin(); row != rows.rend(); ++row) backward.put(*row);
  RC_ASSERT(contents(forward, Tree::kMeta) == contents(backward, Tree::kMeta));
}

// What an append reserves for its rows is enough for them, however large they are.
RC_GTEST_PROP(Memtable, AnAppendAddsAtMostWhatIsReservedForIt, ()) {
  constexpr uint64_t kNodes = 1024;  // of its rows, and their keys
  const StreamId id{1, 2};
  Memtable memtable;
  uint64_t change = 0;
  const auto sizes = *rc::gen::container<std::vector<size_t>>(
      rc::gen::oneOf(rc::gen::inRange<size_t>(1, 2000), rc::gen::inRange<size_t>(1, 200'000)));
  for (const size_t size : sizes) {
    const uint64_t before = memtable.bytes();
    const uint64_t room = Memtable::growth_max(size + kNodes) + memtable.step_max();
    ++change;
    memtable.put({Tree::kData, row_key::data(id, Generation(1), {change, change}),
                  ChangeNumber(change), false, std::string(size, 'x')});
    memtable.put({Tree::kMeta, row_key::meta(id, Generation(1), RowKind::kHot),
                  ChangeNumber(change), false, "hot"});
    RC_ASSERT(memtable.bytes() - before <= room);
  }
}

TEST(Memtable, ManyStreamsThatGrowInTurnLieInOrder) {
  // More than there are remembered places, so that streams share some.
  constexpr uint64_t kStreams = 10'000;
  Memtable memtable;
  TreeModel data;
  TreeModel meta;
  for (uint64_t turn = 1; turn <= 3; ++turn) {
    for (uint64_t n = 0; n < kStreams; ++n) {
      const StreamId id{n * 0x9e3779b97f4a7c15, n};
      const Row record = row_of(Tree::kData, row_key::data(id, Generation(1), {turn, turn}), turn);
      const Row hot = row_of(Tree::kMeta, row_key::meta(id, Generation(1), RowKind::kHot), turn);
      ASSERT_TRUE(memtable.put(record) && memtable.put(hot));
      model_put(data, record);
      model_put(meta, hot);
    }
  }
  EXPECT_EQ(contents(memtable, Tree::kData), data);
  EXPECT_EQ(contents(memtable, Tree::kMeta), meta);
}

TEST(Memtable, ARowThatIsPutTwiceIsKeptOnce) {
  Memtable memtable;
  const Row row = row_of(Tree::kMeta, row_key::meta({1, 2}, Generation(1), RowKind::kHot), 5);
  EXPECT_TRUE(memtable.put(row));
  const uint64_t bytes = memtable.bytes();
  EXPECT_FALSE(memtable.put(row));
  EXPECT_EQ(memtable.rows(Tree::kMeta), 1u);
  EXPECT_EQ(memtable.bytes(), bytes);
}

TEST(Memtable, ARowThatIsChangedOverAndOverTakesNoMoreMemory) {
  Memtable memtable;
  const std::string key = row_key::meta({1, 2}, Generation(1), RowKind::kHot);
  for (uint64_t change = 1; change <= 100'000; ++change) {
    memtable.put(Tree::kMeta,
                 {key, ChangeNumber(change), false, std::string(20 + change % 20, 'v')});
  }
  EXPECT_EQ(memtable.find(Tree::kMeta, key)->change, ChangeNumber(100'000));
  EXPECT_LE(memtable.bytes(), 8 * kKiB);
}

TEST(Memtable, AccountsForTheMemoryThatItTakes) {
  Memtable memtable;
  EXPECT_EQ(memtable.bytes(), 0u);
  uint64_t bytes = 0;
  for (uint64_t n = 0; n < 10'000; ++n) {
    const Row row = row_of(Tree::kData, row_key::data({n % 100, 0}, Generation(1), {n, n}), 1, 100);
    bytes += row.key.size() + row.value.size();
    memtable.put(row);
  }
  EXPECT_GE(memtable.bytes(), bytes);
  EXPECT_LE(memtable.bytes(), bytes + 10'000 * 56 + 256 * kKiB);
  memtable.put(row_of(Tree::kData, row_key::data({0, 0}, Generation(1), {99'999, 9}), 1, 4 * kMiB));
  EXPECT_GE(memtable.bytes(), bytes + 4 * kMiB);
}

TEST(Memtable, ACursorStandsWhileOthersPut) {
  Memtable memtable;
  memtable.put(row_of(Tree::kData, row_key::data({1, 1}, Generation(1), {1, 1}), 1));
  memtable.put(row_of(Tree::kData, row_key::data({1, 1}, Generation(1), {3, 3}), 1));
  auto cursor = memtable.begin(Tree::kData);
  const std::string between = row_key::data({1, 1}, Generation(1), {2, 2});
  memtable.put(row_of(Tree::kData, between, 1));
  cursor.next();
  EXPECT_EQ(cursor.row().key, between);
}

}  // namespace
}  // namespace morula
