#include "core/lsm/tree_reader.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <bitset>

#include "core/base/mutant.hpp"
#include "core/lsm/table_builder.hpp"
#include "core/rt/compute.hpp"
#include "sim/world/test_world.hpp"
#include "tests/lsm/property_world.hpp"
#include "tests/lsm/random_rows.hpp"
#include "tests/lsm/scanned_rows.hpp"

namespace morula {
namespace {

using sim::TestWorld;

std::shared_ptr<const Memtable> memtable_of(const std::vector<Row>& rows) {
  auto memtable = std::make_shared<Memtable>();
  for (const Row& row : rows) memtable->put(row);
  return memtable;
}

/// A tree spread over memtables and tables.
struct Spread {
  explicit Spread(Tree t) : tree(t) {}

  void add_memtable(const std::vector<Row>& rows, Prefix clip = {}) {
    sources.memtables.emplace_back(memtable_of(rows), clip);
    put_model(rows, clip);
  }
  /// Puts a table with these rows into the store; it is opened by `reader`.
  void add_table(const std::vector<Row>& rows, Prefix clip = {}) {
    const ClippedMemtable memtables[] = {memtable_of(rows)};
    const auto built = build_table(memtables, tree);
    if (!built) return;
    const std::string key = "sst/a/" + std::to_string(tables.size());
    tables.push_back({key, built->bytes.size(), clip});
    world.store().plant(key, built->bytes);
    put_model(rows, clip);
  }
  void put_model(const std::vector<Row>& rows, Prefix clip) {
    for (const Row& row : rows) {
      if (clip.contains(row_key::stream_id(row.key))) model_put(model, row);
    }
  }
  TreeReader reader(const Env& env) {
    for (const Stored& table : tables) {
      sources.tables.push_back(
          {*Table::open(env, cache, table.key, table.bytes, tree), table.clip, {}});
    }
    tables.clear();
    return {tree, sources};
  }

  struct Stored {
    std::string key;
    uint64_t bytes;
    Prefix clip;
  };
  Tree tree;
  TestWorld world;
  BlockCache cache{kMiB};
  TreeSources sources;
  std::vector<Stored> tables;
  TreeModel model;
};

std::optional<Row> newest_hot(const TreeModel& model, StreamId id) {
  for (const auto& [key, row] : model) {
    const auto parts = row_key::parse(Tree::kMeta, key);
    if (parts->id == id && parts->kind == RowKind::kHot) return row;
  }
  return std::nullopt;
}

std::vector<Row> rows_between(const TreeModel& model, StreamId id, Generation generation,
                              Offset from, Offset to, uint64_t bytes_max) {
  std::vector<Row> rows;
  uint64_t bytes = 0;
  for (const auto& [key, row] : model) {
    const auto parts = row_key::parse(Tree::kData, key);
    if (parts->id != id || parts->generation != generation || row.deleted) continue;
    if (parts->end <= from || parts->end > to) continue;
    if (!rows.empty() && bytes >= bytes_max) break;
    rows.push_back(row);
    bytes += row.value.size();
  }
  return rows;
}

/// Each row goes to one or several sources, which have random clips.
std::unique_ptr<Spread> spread_rows(Tree tree) {
  const auto rows = *rc::gen::container<std::vector<Row>>(rows_of(tree));
  auto spread = std::make_unique<Spread>(tree);
  const auto memtables = *rc::gen::inRange<size_t>(0, 4);
  const auto tables = *rc::gen::inRange<size_t>(0, 5);
  std::vector<std::vector<Row>> parts(memtables + tables);
  const auto masks = *rc::gen::container<std::vector<uint32_t>>(
      rows.size(), rc::gen::inRange<uint32_t>(1, 1 << 8));
  for (size_t i = 0; i < rows.size(); ++i) {
    for (size_t part = 0; part < parts.size(); ++part) {
      // Most rows are in one place; some in several, as after a takeover.
      const bool here =
          i % 3 == 0 ? std::bitset<8>(masks[i])[part] : masks[i] % parts.size() == part;
      if (here) parts[part].push_back(rows[i]);
    }
  }
  for (size_t part = 0; part < parts.size(); ++part) {
    const auto drawn = *rc::gen::element<std::string>("root", "root", "0", "1", "01", "110");
    const Prefix clip = *Prefix::parse(drawn);
    if (part < memtables) {
      spread->add_memtable(parts[part], clip);
    } else {
      spread->add_table(parts[part], clip);
    }
  }
  return spread;
}

RC_GTEST_PROP(TreeReader, ShowsTheNewestMetaRowsWhateverFileTheyAreIn, ()) {
  const auto spread = spread_rows(Tree::kMeta);
  const auto ids = *rc::gen::container<std::vector<StreamId>>(10, stream_ids());
  const auto keys = *rc::gen::container<std::vector<std::string>>(20, meta_keys());
  run_property(spread->world, [&](const Env& env) {
    const TreeReader reader = spread->reader(env);
    for (const StreamId id : ids) {
      RC_ASSERT(*reader.find_hot(id) == newest_hot(spread->model, id));
    }
    for (const std::string& key : keys) {
      const auto expected = spread->model.find(key);
      RC_ASSERT(*reader.find(key) ==
                (expected == spread->model.end() ? std::nullopt : std::optional(expected->second)));
    }
  });
}

RC_GTEST_PROP(TreeReader, ScansTheNewestDataRowsWhateverFileTheyAreIn, ()) {
  const auto spread = spread_rows(Tree::kData);
  const auto offsets = rc::gen::construct<Offset>(rc::gen::inRange<uint64_t>(0, 13),
                                                  rc::gen::inRange<uint64_t>(0, 3));
  const auto scans = *rc::gen::container<std::vector<DataScan>>(
      20,
      rc::gen::construct<DataScan>(
          stream_ids(),
          rc::gen::map(rc::gen::inRange<uint64_t>(1, 4), [](uint64_t n) { return Generation(n); }),
          offsets, offsets, rc::gen::element<uint64_t>(0, 1, 60, 200, UINT64_MAX)));
  run_property(spread->world, [&](const Env& env) {
    const TreeReader reader = spread->reader(env);
    for (const DataScan& scan : scans) {
      const auto rows = scanned_rows(reader, scan);
      RC_ASSERT(rows.has_value());
      RC_ASSERT(*rows == rows_between(spread->model, scan.id, scan.generation, scan.from, scan.to,
                                      scan.bytes_max));
    }
  });
}

RC_GTEST_PROP(Flush, WritesTheNewestRowOfEachKeyAndNothingElse, ()) {
  const auto rows = *rc::gen::container<std::vector<Row>>(
      rc::gen::oneOf(rows_of(Tree::kMeta), rows_of(Tree::kData)));
  const Tree tree = *rc::gen::element(Tree::kMeta, Tree::kData);
  std::vector<std::vector<Row>> parts(*rc::gen::inRange<size_t>(1, 4));
  TreeModel model;
  for (const Row& row : rows) {
    parts[*rc::gen::inRange<size_t>(0, parts.size())].push_back(row);
    if (row.tree == tree) model_put(model, row);
  }
  std::vector<ClippedMemtable> memtables;
  for (const auto& part : parts) memtables.push_back(memtable_of(part));
  TestWorld world;
  run_property(world, [&](const Env& env) {
    std::optional<BuiltTable> built;
    env.compute.run([&] { built = build_table(memtables, tree); });
    RC_ASSERT(built.has_value() == !model.empty());
    if (!built) return;
    RC_ASSERT(built->streams.first == row_key::place(Tree::kMeta, model.begin()->first));
    RC_ASSERT(built->streams.last == row_key::place(Tree::kMeta, model.rbegin()->first));
    const std::string* bytes = &built->bytes;
    RC_ASSERT(check_table(*bytes, tree).has_value());
    world.store().plant("t", *bytes);
    BlockCache cache(kMiB);
    const auto table = *Table::open(env, cache, "t", bytes->size(), tree);
    TreeModel read;
    TableCursor cursor(table);
    RC_ASSERT(cursor.seek("").has_value());
    while (cursor.valid()) {
      read.emplace(cursor.row().key, cursor.row().copy(tree));
      RC_ASSERT(cursor.next().has_value());
    }
    RC_ASSERT(read == model);
  });
}

Row hot(uint64_t stream, uint64_t generation, uint64_t change) {
  const StreamId id{stream * 0x9e3779b97f4a7c15, stream};
  return row_of(Tree::kMeta, row_key::meta(id, Generation(generation), RowKind::kHot), change, 40);
}

StreamId id_of(const Row& row) {
  return row_key::stream_id(row.key);
}

TEST(TreeReader, AColdStreamsHotRowTakesOneRequest) {
  Spread spread(Tree::kMeta);
  for (uint64_t table = 0; table < 5; ++table) {
    std::vector<Row> rows;
    for (uint64_t stream = 1; stream <= 2'000; ++stream) {
      rows.push_back(hot(table * 10'000 + stream, 1, 1));
    }
    spread.add_table(rows);
  }
  spread.world.run([&](const Env& env) {
    const TreeReader reader = spread.reader(env);
    auto& store = spread.world.store();
    EXPECT_EQ(store.sent(), 5u) << "one to open each table";
    for (uint64_t n = 0; n < 50; ++n) {
      const Row row = hot(n % 5 * 10'000 + 37 * n + 1, 1, 1);
      EXPECT_EQ(*reader.find_hot(id_of(row)), row);
    }
    EXPECT_LE(store.sent(Purpose::kMetaRead) - 5, 53u) << "the filters' false positives";
    EXPECT_GE(store.sent(Purpose::kMetaRead) - 5, 25u) << "the streams were cold";
  });
}

TEST(TreeReader, AStreamThatExistsNowhereTakesNoRequest) {
  Spread spread(Tree::kMeta);
  std::vector<Row> rows;
  for (uint64_t stream = 1; stream <= 2'000; ++stream) rows.push_back(hot(stream, 1, 1));
  spread.add_table(rows);
  spread.world.run([&](const Env& env) {
    const TreeReader reader = spread.reader(env);
    const uint64_t before = spread.world.store().sent();
    uint64_t found = 0;
    for (uint64_t stream = 1; stream <= 100; ++stream) {
      found += reader.find_hot({stream, stream})->has_value() ? 1 : 0;
    }
    EXPECT_EQ(found, 0u);
    EXPECT_LE(spread.world.store().sent() - before, 4u) << "the filter's false positives";
  });
}

TEST(TreeReader, AReadOfAColdStreamTakesOneRequest) {
  Spread spread(Tree::kData);
  std::vector<Row> rows;
  for (uint64_t n = 1; n <= 20'000; ++n) {
    const StreamId id{n % 100 * 0x9e3779b97f4a7c15, n % 100};
    rows.push_back(row_of(Tree::kData, row_key::data(id, Generation(1), {n, n}), n, 100));
    rows.back().deleted = false;
  }
  spread.add_table(rows);
  spread.world.run([&](const Env& env) {
    const TreeReader reader = spread.reader(env);
    const uint64_t before = spread.world.store().sent();
    const StreamId id{7 * 0x9e3779b97f4a7c15, 7};
    const auto read = scanned_rows(reader, {id, Generation(1), {}, {1'000'000, 0}, kMiB});
    EXPECT_EQ(read->size(), 200u);
    EXPECT_EQ(spread.world.store().sent() - before, 1u);
  });
}

TEST(TreeReader, AStreamThatIsLargerThanATableIsReadTableByTable) {
  Spread spread(Tree::kData);
  uint64_t n = 0;
  for (int table = 0; table < 12; ++table) {
    std::vector<Row> rows;
    for (int i = 0; i < 100; ++i) {
      ++n;
      const std::string key = row_key::data({1, 1}, Generation(1), {n, n * 1000});
      rows.push_back(row_of(Tree::kData, key, 1, 1000));
      rows.back().deleted = false;
    }
    spread.add_table(rows);
  }
  spread.world.run([&](const Env& env) {
    const TreeReader reader = spread.reader(env);
    const uint64_t opened = spread.world.store().sent(sim::StoreCall::kGet);
    DataScan scan{{1, 1}, Generation(1), {250, 250'000}, {n, n * 1000}, 100'000};
    const auto rows = *scanned_rows(reader, scan);
    EXPECT_EQ(rows.size(), 100u);  // of the third table and the fourth
    EXPECT_LE(spread.world.store().sent(sim::StoreCall::kGet) - opened, 4u);
    scan.bytes_max = 10 * kMiB;
    EXPECT_EQ(scanned_rows(reader, scan)->size(), n - 250);
  });
}

TEST(TreeReader, AScanIsTakenUpBehindTheLastRowThatItGave) {
  Spread spread(Tree::kData);
  const StreamId id{7, 7};
  std::vector<Row> old;
  std::vector<Row> recent;
  for (uint64_t n = 1; n <= 100; ++n) {
    Row row = row_of(Tree::kData, row_key::data(id, Generation(1), {n, n}), n, 10);
    row.deleted = false;
    (n % 3 == 0 ? recent : old).push_back(row);
  }
  spread.add_table(old);
  spread.add_memtable(recent);
  spread.world.run([&](const Env& env) {
    const TreeReader reader = spread.reader(env);
    const auto whole = scanned_rows(reader, {id, Generation(1), {}, {100, 100}, kMiB});
    DataScan scan{id, Generation(1), {}, {100, 100}, kMiB};
    std::vector<Row> taken;
    const auto take_one = [&](const RowView& row) {
      taken.push_back(row.copy(Tree::kData));
      return false;
    };
    for (size_t n = 0; n < 100; ++n) ASSERT_TRUE(reader.scan_data(scan, take_one));
    EXPECT_EQ(scan.from, scan.to);
    EXPECT_EQ(scan.rows, 100u);
    EXPECT_EQ(taken, *whole);
  });
}

TEST(TreeReader, AReCreatedStreamShowsItsNewestGenerationFromWhereverItIs) {
  for (const bool newest_in_memory : {false, true}) {
    Spread spread(Tree::kMeta);
    const std::vector<Row> old = {hot(1, 1, 900)};
    const std::vector<Row> renewed = {hot(1, 2, 1)};
    if (newest_in_memory) {
      spread.add_memtable(renewed);
      spread.add_table(old);
    } else {
      spread.add_memtable(old);
      spread.add_table(renewed);
    }
    spread.world.run([&](const Env& env) {
      EXPECT_EQ(*spread.reader(env).find_hot(id_of(renewed[0])), renewed[0]);
    });
  }
}

TEST(TreeReader, AnErrorOfATableIsAnErrorNotAnAbsence) {
  Spread spread(Tree::kMeta);
  std::vector<Row> rows;
  for (uint64_t stream = 1; stream <= 3'000; ++stream) rows.push_back(hot(stream, 1, 1));
  spread.add_table(rows);
  spread.world.run([&](const Env& env) {
    const TreeReader reader = spread.reader(env);
    spread.world.store().destroy("sst/a/0");
    EXPECT_EQ(reader.find_hot(id_of(rows[0])).error().code, ErrorCode::kNotFound);
    EXPECT_EQ(reader.find(rows[1].key).error().code, ErrorCode::kNotFound);
  });
}

TEST(TreeReader, TheMutantShowsAnOldGeneration) {
  const std::vector<Row> rows = {hot(1, 1, 5), hot(1, 2, 3), hot(1, 3, 1)};
  for (const bool spread_out : {false, true}) {
    Spread spread(Tree::kMeta);
    if (spread_out) {
      for (const Row& row : rows) spread.add_table({row});
    } else {
      spread.add_memtable(rows);
    }
    spread.world.run([&](const Env& env) {
      const TreeReader reader = spread.reader(env);
      EXPECT_EQ(*reader.find_hot(id_of(rows[0])), rows[2]);
      active_mutant = Mutant::old_generation_shows;
      EXPECT_EQ(*reader.find_hot(id_of(rows[0])), rows[0]);
      active_mutant = Mutant::none;
    });
  }
}

}  // namespace
}  // namespace morula
