#include "core/lsm/table.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/lsm/table_builder.hpp"
#include "core/rt/fiber.hpp"
#include "sim/world/test_world.hpp"
#include "tests/lsm/property_world.hpp"
#include "tests/lsm/random_rows.hpp"
#include "tests/sim/fates.hpp"

namespace morula {
namespace {

using sim::TestWorld;

constexpr const char* kKey = "sst/a/1.sst";

std::string table_bytes(Tree tree, const TreeModel& rows, size_t block_bytes,
                        uint64_t section_bytes = 64 * kKiB) {
  TableBuilder builder(tree, {block_bytes, section_bytes});
  for (const auto& [key, row] : rows) builder.add({key, row.change, row.deleted, row.value});
  return builder.finish();
}

/// Many rows of many streams: 100 bytes each, `rows` of them.
TreeModel many_rows(Tree tree, uint64_t rows) {
  TreeModel model;
  for (uint64_t n = 0; n < rows; ++n) {
    const StreamId id{(n + 1) * 0x9e3779b97f4a7c15, n};
    model_put(model, tree == Tree::kMeta
                         ? row_of(tree, row_key::meta(id, Generation(1), RowKind::kHot), n, 40)
                         : row_of(tree, row_key::data({1, 1}, Generation(1), {n, n}), n, 100));
  }
  return model;
}

/// A table in the store of a world, and what reads it.
struct Planted {
  Planted(Tree t, const TreeModel& rows, size_t block_bytes = 4096, uint64_t cache_bytes = kMiB,
          uint64_t section_bytes = 64 * kKiB)
      : tree(t), cache(cache_bytes) {
    const std::string bytes = table_bytes(tree, rows, block_bytes, section_bytes);
    size = bytes.size();
    world.store().plant(kKey, bytes);
  }
  Result<std::shared_ptr<const Table>> open(const Env& env, const TableReadConfig& config = {}) {
    return Table::open(env, cache, kKey, size, tree, config);
  }
  uint64_t gets() { return world.store().sent(sim::StoreCall::kGet); }

  Tree tree;
  TestWorld world;
  BlockCache cache;
  uint64_t size = 0;
};

bool may_find(std::shared_ptr<const Table> table, std::string_view key) {
  return *TableCursor(std::move(table)).look_for(key);
}

Result<TreeModel> scan(std::shared_ptr<const Table> table, TableCursor::ReadAhead ahead = {}) {
  TreeModel rows;
  const Tree tree = table->tree();
  TableCursor cursor(std::move(table), std::move(ahead));
  for (auto moved = cursor.seek("");; moved = cursor.next()) {
    if (!moved) return fail(moved.error());
    if (!cursor.valid()) return rows;
    rows.emplace(cursor.row().key, cursor.row().copy(tree));
  }
}

void check_as_model(const std::shared_ptr<const Table>& table, const TreeModel& model,
                    const std::vector<std::string>& keys) {
  RC_ASSERT(table->rows() == model.size());
  RC_ASSERT(*scan(table) == model);
  for (const auto& [key, row] : model) {
    RC_ASSERT(may_find(table, row_key::stream(row_key::stream_id(key))));
    RC_ASSERT(may_find(table, key));
    RC_ASSERT(*table->find(key) == std::optional(row));
  }
  for (const std::string& key : keys) {
    RC_ASSERT(table->find(key)->has_value() == model.contains(key));
    TableCursor cursor(table);
    RC_ASSERT(cursor.seek(key).has_value());
    const auto expected = model.lower_bound(key);
    RC_ASSERT(cursor.valid() == (expected != model.end()));
    if (cursor.valid()) RC_ASSERT(cursor.row().copy(table->tree()) == expected->second);
  }
}

RC_GTEST_PROP(Table, HoldsExactlyTheRowsThatWereAdded, ()) {
  const Tree tree = *rc::gen::element(Tree::kMeta, Tree::kData);
  const auto keys = tree == Tree::kMeta ? meta_keys() : data_keys();
  TreeModel model;
  for (const auto& [key, bytes] :
       *rc::gen::nonEmpty(rc::gen::container<std::vector<std::pair<std::string, size_t>>>(
           rc::gen::pair(keys, value_sizes())))) {
    model_put(model, row_of(tree, key, bytes, bytes));
  }
  Planted planted(tree, model, *rc::gen::element<size_t>(1, 300, 4096, 32'768),
                  *rc::gen::element<uint64_t>(0, 3'000, kMiB),
                  *rc::gen::element<uint64_t>(1, 1'000, 64 * kKiB));
  sim::StoreManners manners;
  manners.abilities.ranges = *rc::gen::arbitrary<bool>();
  planted.world.store().set_manners(manners);
  TableReadConfig config;
  config.tail_bytes = *rc::gen::element<uint64_t>(1, 500, 64 * kKiB);
  const auto others = *rc::gen::container<std::vector<std::string>>(keys);
  run_property(planted.world, [&](const Env& env) {
    const auto table = planted.open(env, config);
    RC_ASSERT(table.has_value());
    check_as_model(*table, model, others);
  });
}

TEST(Table, OpensWithOneRequestAndLooksForAStreamWithOneMore) {
  const TreeModel rows = many_rows(Tree::kMeta, 5'000);
  Planted planted(Tree::kMeta, rows);
  planted.world.run([&](const Env& env) {
    const auto table = *planted.open(env);
    EXPECT_EQ(planted.gets(), 1u);
    const std::string& first = rows.begin()->first;
    EXPECT_TRUE(may_find(table, row_key::stream(row_key::stream_id(first))));
    EXPECT_EQ(planted.gets(), 2u);  // its section, and what is wanted of it
    EXPECT_TRUE(*table->find(first));
    EXPECT_TRUE(*table->find(std::next(rows.begin())->first));
    EXPECT_EQ(planted.gets(), 2u);
    EXPECT_TRUE(*table->find(std::next(rows.begin(), 100)->first));
    EXPECT_EQ(planted.gets(), 3u);  // another block of the same section
    EXPECT_TRUE(*table->find(rows.rbegin()->first));
    EXPECT_EQ(planted.gets(), 4u);
    EXPECT_EQ(planted.world.store().sent(Purpose::kMetaRead), 4u);
  });
}

TEST(Table, AStreamThatIsNotThereCostsOthersNoPlaceInTheCache) {
  Planted planted(Tree::kMeta, many_rows(Tree::kMeta, 5'000), 4096, kMiB, 128 * kKiB);
  planted.world.run([&](const Env& env) {
    const auto table = *planted.open(env);
    const uint64_t before = planted.cache.bytes();
    EXPECT_FALSE(may_find(table, row_key::stream({42, 42})));
    EXPECT_EQ(planted.gets(), 2u);
    EXPECT_LE(planted.cache.bytes() - before, 4 * kKiB);  // the section's own block
  });
}

TEST(Table, ATopIndexThatDoesNotFitIntoTheTailTakesOneMoreRequest) {
  Planted planted(Tree::kMeta, many_rows(Tree::kMeta, 5'000), 4096, kMiB, 4 * kKiB);
  planted.world.run([&](const Env& env) {
    TableReadConfig config;
    config.tail_bytes = kKiB;
    ASSERT_TRUE(planted.open(env, config));
    EXPECT_EQ(planted.gets(), 2u);
  });
}

TEST(Table, WhatATableKeepsInMemoryIsChargedToTheCache) {
  const TreeModel rows = many_rows(Tree::kMeta, 5'000);
  Planted planted(Tree::kMeta, rows, 4096, kMiB, 16 * kKiB);
  planted.world.run([&](const Env& env) {
    auto table = *planted.open(env);
    const uint64_t charged = planted.cache.charged_bytes();
    EXPECT_GT(charged, 0u);
    EXPECT_LE(charged, planted.size / (16 * kKiB) * 40);
    EXPECT_EQ(planted.cache.bytes(), charged);
    table.reset();
    EXPECT_EQ(planted.cache.bytes(), 0u);
  });
}

TEST(Table, WithoutACacheEveryLookAtAStreamReadsAgain) {
  const TreeModel rows = many_rows(Tree::kMeta, 1'000);
  Planted planted(Tree::kMeta, rows, 4096, 0);
  planted.world.run([&](const Env& env) {
    const auto table = *planted.open(env);
    EXPECT_EQ(*table->find(rows.begin()->first), rows.begin()->second);
    EXPECT_EQ(planted.gets(), 3u);
    EXPECT_FALSE(may_find(table, row_key::stream({42, 42})));
    EXPECT_EQ(planted.gets(), 4u);
  });
}

TEST(Table, AStoreWithoutRangesGivesTheWholeObjectOnce) {
  const TreeModel rows = many_rows(Tree::kData, 2'000);
  Planted planted(Tree::kData, rows);
  sim::StoreManners manners;
  manners.abilities.ranges = false;
  planted.world.store().set_manners(manners);
  planted.world.run([&](const Env& env) {
    const auto table = *planted.open(env);
    EXPECT_EQ(*scan(table), rows);
    EXPECT_EQ(planted.gets(), 1u);
    EXPECT_EQ(planted.world.store().sent(Purpose::kDataRead), 1u);
  });
}

TEST(Table, AWalkThatKnowsItsEndReadsBlocksTogether) {
  const TreeModel rows = many_rows(Tree::kData, 5'000);
  Planted planted(Tree::kData, rows, 4096, 4 * kMiB);
  planted.world.run([&](const Env& env) {
    const auto table = *planted.open(env);
    const std::string last = rows.rbegin()->first;
    EXPECT_EQ(*scan(table, {last, kMiB, kMiB}), rows);
    EXPECT_EQ(planted.gets(), 2u);
    EXPECT_EQ(*scan(table), rows);  // what was read ahead is kept
    EXPECT_EQ(planted.gets(), 2u);
  });
}

TEST(Table, ReadAheadGrowsOnlyOnceTheWalkGoesOn) {
  const TreeModel rows = many_rows(Tree::kData, 5'000);
  Planted planted(Tree::kData, rows, 4096, 4 * kMiB);
  planted.world.run([&](const Env& env) {
    const auto table = *planted.open(env);
    TableCursor cursor(table, {rows.rbegin()->first, kMiB, 0});
    ASSERT_TRUE(cursor.seek(""));
    EXPECT_LE(planted.cache.bytes(), 80 * kKiB);  // one section
    while (cursor.valid()) ASSERT_TRUE(cursor.next());
    EXPECT_LE(planted.gets(), 4u);
  });
}

TEST(Table, AWalkReadsNothingBeyondItsEnd) {
  const TreeModel rows = many_rows(Tree::kData, 5'000);
  Planted planted(Tree::kData, rows, 4096, 4 * kMiB);
  planted.world.run([&](const Env& env) {
    const auto table = *planted.open(env);
    const uint64_t before = planted.cache.bytes();
    TableCursor cursor(table, {std::next(rows.begin(), 100)->first, kMiB, kMiB});
    ASSERT_TRUE(cursor.seek(""));
    EXPECT_LE(planted.cache.bytes() - before, 100 * 150 + 4096u);
  });
}

TEST(Table, FibersThatWantOneBlockReadItOnce) {
  const TreeModel rows = many_rows(Tree::kMeta, 5'000);
  Planted planted(Tree::kMeta, rows);
  planted.world.run([&](const Env& env) {
    const auto table = *planted.open(env);
    with_scope(env.domain, [&](Scope& scope) {
      for (int i = 0; i < 20; ++i) {
        scope.spawn("reader", [&] { EXPECT_TRUE(*table->find(rows.begin()->first)); });
      }
      scope.join();
    });
    EXPECT_EQ(planted.gets(), 2u);
  });
}

TEST(Table, ACursorLivesOnAfterTheTableWasLetGoAndItsBlocksWereEvicted) {
  const TreeModel rows = many_rows(Tree::kData, 1'000);
  Planted planted(Tree::kData, rows, 4096, 30 * kKiB);
  planted.world.run([&](const Env& env) {
    auto table = *planted.open(env);
    TableCursor cursor(table);
    ASSERT_TRUE(cursor.seek(""));
    const Row first = cursor.row().copy(Tree::kData);
    ASSERT_TRUE(scan(table));
    EXPECT_GT(planted.cache.counters().evictions, 10u);
    table.reset();
    EXPECT_EQ(cursor.row().copy(Tree::kData), first);
    TreeModel seen;
    while (cursor.valid()) {
      seen.emplace(cursor.row().key, cursor.row().copy(Tree::kData));
      ASSERT_TRUE(cursor.next());
    }
    EXPECT_EQ(seen, rows);
  });
}

TEST(Table, BytesDamagedOnTheWayAreReadAgain) {
  const TreeModel rows = many_rows(Tree::kMeta, 300);
  Planted planted(Tree::kMeta, rows, 1000, 0);
  int reads = 0;
  planted.world.store().set_fates([&](const sim::StoreRequest&) {
    return ++reads % 2 == 1 ? sim::flipped() : sim::StoreFate{};
  });
  planted.world.run([&](const Env& env) {
    const auto table = planted.open(env);
    ASSERT_TRUE(table) << table.error().message;
    EXPECT_EQ(*scan(*table), rows);
  });
}

TEST(Table, DamageInTheStoreIsFoundByWhoeverReadsIt) {
  TreeModel rows = many_rows(Tree::kMeta, 12);
  const std::string bytes = table_bytes(Tree::kMeta, rows, 200);
  Planted planted(Tree::kMeta, rows, 200);
  for (const uint64_t tail : {uint64_t{1}, 64 * kKiB}) {
    for (size_t place = tail == 1 ? kTableHeaderBytes : 0; place < bytes.size(); ++place) {
      std::string damaged = bytes;
      damaged[place] = static_cast<char>(damaged[place] ^ (1 << place % 8));
      planted.world.store().plant(kKey, damaged);
      planted.world.run([&](const Env& env) {
        TableReadConfig config;
        config.tail_bytes = tail;
        const auto table = planted.open(env, config);
        Error error;
        if (table) {
          const auto read = scan(*table);
          ASSERT_FALSE(read) << place;
          error = read.error();
        } else {
          error = table.error();
        }
        EXPECT_EQ(error.code, ErrorCode::kCorrupt);
        EXPECT_TRUE(error.message.starts_with("table sst/a/1.sst: ")) << error.message;
      });
    }
  }
}

TEST(Table, DamageNamesTheBlock) {
  const TreeModel rows = many_rows(Tree::kMeta, 5'000);
  Planted planted(Tree::kMeta, rows);
  std::string damaged = table_bytes(Tree::kMeta, rows, 4096);
  damaged[kTableHeaderBytes + 10] ^= 1;
  planted.world.store().plant(kKey, damaged);
  planted.world.run([&](const Env& env) {
    const auto table = *planted.open(env);
    const auto found = table->find(rows.begin()->first);
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().message, "table sst/a/1.sst: rows block at 24: the checksum is wrong");
    EXPECT_TRUE(table->find(rows.rbegin()->first)) << "other blocks are sound";
  });
}

TEST(Table, AnObjectOfAnotherSizeIsDamageAndAnAbsentOneIsGone) {
  const TreeModel rows = many_rows(Tree::kMeta, 100);
  Planted planted(Tree::kMeta, rows);
  const std::string bytes = *planted.world.store().peek(kKey);
  planted.world.run([&](const Env& env) {
    for (const std::string& wrong :
         {bytes.substr(1), "x" + bytes, std::string("tiny"), std::string()}) {
      planted.world.store().plant(kKey, wrong);
      const auto table = planted.open(env);
      ASSERT_FALSE(table);
      EXPECT_EQ(table.error().code, ErrorCode::kCorrupt);
    }
    planted.world.store().destroy(kKey);
    EXPECT_EQ(planted.open(env).error().code, ErrorCode::kNotFound);
    planted.world.store().plant(kKey, bytes);
    EXPECT_EQ(Table::open(env, planted.cache, kKey, bytes.size(), Tree::kData).error().code,
              ErrorCode::kCorrupt);
    EXPECT_EQ(Table::open(env, planted.cache, kKey, 3, Tree::kMeta).error().code,
              ErrorCode::kCorrupt);
  });
}

TEST(Table, AReadIsRepeatedUntilTheStoreAnswers) {
  const TreeModel rows = many_rows(Tree::kMeta, 100);
  Planted planted(Tree::kMeta, rows);
  int reads = 0;
  planted.world.store().set_fates([&](const sim::StoreRequest&) {
    switch (++reads) {
      case 1:
        return sim::refused(ErrorCode::kThrottled);
      case 2:
        return sim::answer_lost();
      case 3:
        return sim::refused(ErrorCode::kUnavailable);
      default:
        return sim::StoreFate{};
    }
  });
  planted.world.run([&](const Env& env) { EXPECT_TRUE(planted.open(env)); });
  EXPECT_EQ(reads, 4);
}

TEST(Table, AReadGivesUpWhenTheStoreStaysAway) {
  Planted planted(Tree::kMeta, many_rows(Tree::kMeta, 100));
  planted.world.store().set_fates([](const sim::StoreRequest&) { return sim::request_lost(); });
  planted.world.run([&](const Env& env) {
    const Time begin = env.clock.now();
    const auto table = planted.open(env);
    ASSERT_FALSE(table);
    EXPECT_EQ(table.error().code, ErrorCode::kUnavailable);
    EXPECT_LE(env.clock.now() - begin, TableReadConfig().give_up_after);
  });
}

}  // namespace
}  // namespace morula
