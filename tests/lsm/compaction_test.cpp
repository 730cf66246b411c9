#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <optional>

#include "core/base/codec.hpp"
#include "core/lsm/compaction_merge.hpp"
#include "core/lsm/tree_reader.hpp"
#include "core/rt/random.hpp"
#include "tests/lsm/property_world.hpp"
#include "tests/lsm/random_rows.hpp"
#include "tests/lsm/scanned_rows.hpp"

namespace morula {
namespace {

constexpr uint64_t kStreams = 6;

StreamId stream(uint64_t n) {
  return {n << 61 | 7, n};
}

/// Test values begin with a deadline; 0: none.
std::optional<WallTime> deadline_in(std::string_view value) {
  Decoder in(value);
  const uint64_t ms = in.u64();
  return in.failed() || ms == 0 ? std::nullopt : std::optional(WallTime{static_cast<int64_t>(ms)});
}

void set_deadline(Row& row, uint64_t ms) {
  std::string head;
  Encoder(head).u64(ms);
  row.value.replace(0, head.size(), head);
}

/// Tables in a store, and merges of them as a shard would do them.
class Tables {
 public:
  explicit Tables(const Env& env, sim::TestWorld& world) : env_(env), world_(world) {}

  void add(const std::vector<Row>& rows) {
    auto memtable = std::make_shared<Memtable>();
    for (const Row& row : rows) memtable->put(row);
    const ClippedMemtable memtables[] = {ClippedMemtable(memtable)};
    for (const Tree tree : {Tree::kMeta, Tree::kData}) {
      auto built = build_table(memtables, tree);
      if (built) keep(tree, 0, *std::move(built));
    }
  }

  /// Merges those of `tree` whose place in the list has a bit in `chosen`.
  Result<> merge(Tree tree, uint64_t chosen, uint64_t output_bytes) {
    std::vector<TableScan> inputs;
    std::vector<TableScan> hot;
    std::vector<ManifestTable> outside;
    std::vector<ManifestTable> left;
    for (size_t i = 0; i < tables.size(); ++i) {
      const ManifestTable& table = tables[i];
      const bool is_input = table.tree == tree && (chosen >> i & 1) != 0;
      if (is_input) {
        inputs.push_back(scan(table));
      } else {
        left.push_back(table);
        if (table.tree == tree) outside.push_back(table);
      }
      if (tree == Tree::kData && table.tree == Tree::kMeta) hot.push_back(scan(table));
    }
    CompactionMerge merge(tree, std::move(inputs), outside, std::move(hot),
                          {expired_by, &deadline_in}, output_bytes);
    tables = left;
    using Pause = CompactionMerge::Pause;
    for (Pause pause = Pause::kWantsMore; pause != Pause::kDone;) {
      TableBuilder output(tree);
      do {
        MORULA_TRY(merge.read_more());
        pause = merge.merge(output);
      } while (pause == Pause::kWantsMore);
      if (output.rows() == 0) continue;
      const KeyRange streams = output.streams();
      keep(tree, 1, {output.finish(), streams});
    }
    dropped = merge.dropped();
    return {};
  }

  /// All that a reader can see: of each stream that lives, the rows of its generation.
  std::vector<Row> visible() {
    TreeReader meta(Tree::kMeta, sources(Tree::kMeta));
    TreeReader data(Tree::kData, sources(Tree::kData));
    std::vector<Row> seen;
    for (uint64_t n = 0; n < kStreams; ++n) {
      const auto hot = *meta.find_hot(stream(n));
      if (!hot || hot->deleted) continue;
      const auto deadline = deadline_in(hot->value);
      if (deadline && expired_by && *deadline <= *expired_by) continue;
      seen.push_back(*hot);
      const Generation generation = row_key::parse(Tree::kMeta, hot->key)->generation;
      for (const char* producer : {"p", "q"}) {
        const std::string key = row_key::meta(stream(n), generation, RowKind::kProducer, producer);
        if (const auto row = *meta.find(key)) seen.push_back(*row);
      }
      auto rows = scanned_rows(data, {stream(n), generation, {}, {UINT64_MAX, UINT64_MAX}, kMiB});
      for (Row& row : *rows) seen.push_back(std::move(row));
    }
    return seen;
  }
  uint64_t rows() {
    uint64_t rows = 0;
    for (const ManifestTable& table : tables) rows += open(table)->rows();
    return rows;
  }

  std::optional<WallTime> expired_by;  // the time of the last `add`
  std::vector<ManifestTable> tables;
  CompactionMerge::Dropped dropped;

 private:
  void keep(Tree tree, uint32_t level, BuiltTable built) {
    const std::string key = "sst/" + std::to_string(next_++);
    tables.push_back({key, tree, {}, built.bytes.size(), level, built.streams});
    world_.store().plant(key, std::move(built.bytes));
  }
  std::shared_ptr<const Table> open(const ManifestTable& table) {
    return *Table::open(env_, cache_, table.key, table.bytes, table.tree);
  }
  TableScan scan(const ManifestTable& table) { return {open(table), table.clip, 600}; }
  TreeSources sources(Tree tree) {
    TreeSources found;
    for (const ManifestTable& table : tables) {
      if (table.tree == tree) found.tables.push_back({open(table), table.clip, table.streams});
    }
    return found;
  }

  const Env& env_;
  sim::TestWorld& world_;
  BlockCache cache_{kMiB};
  uint64_t next_ = 0;
};

/// Streams that are created, appended to, renewed, deleted, and whose time runs out, as their owner
/// writes them.
class History {
 public:
  explicit History(uint64_t seed) : random_(seed) {}

  /// The rows of a few changes. Time goes on with each.
  std::vector<Row> go_on() {
    std::vector<Row> rows;
    for (uint64_t i = random_.between(1, 12); i > 0; --i) {
      ++now_;
      change(random_.below(kStreams), rows);
    }
    return rows;
  }
  WallTime now() const { return WallTime{static_cast<int64_t>(now_)}; }

 private:
  struct Stream {
    uint64_t generation = 0;
    uint64_t change = 0;
    uint64_t tail = 0;
    bool lives = false;
    uint64_t ttl = 0;  // 0: for ever
    uint64_t deadline = 0;
  };

  void change(uint64_t n, std::vector<Row>& rows) {
    Stream& s = streams_[n];
    ++s.change;
    if (!s.lives || (s.ttl > 0 && s.deadline <= now_)) {
      s = {s.generation + 1, s.change, 0, true, random_.chance(1, 2) ? random_.between(1, 20) : 0};
    } else if (random_.chance(1, 3)) {
      s.lives = false;
    } else {
      const size_t bytes = random_.chance(1, 6) ? 3000 : 50;
      s.tail += 1;
      put(rows, Tree::kData, row_key::data(stream(n), Generation(s.generation), {s.tail, s.tail}),
          s.change, bytes);
      const char* producer = random_.chance(1, 2) ? "p" : "q";
      put(rows, Tree::kMeta,
          row_key::meta(stream(n), Generation(s.generation), RowKind::kProducer, producer),
          s.change, 20);
    }
    put(rows, Tree::kMeta, row_key::meta(stream(n), Generation(s.generation), RowKind::kHot),
        s.change, 30);
    rows.back().deleted = !s.lives;
    if (s.lives && s.ttl > 0) s.deadline = now_ + s.ttl;
    set_deadline(rows.back(), s.ttl > 0 ? s.deadline : 0);
  }
  static void put(std::vector<Row>& rows, Tree tree, std::string key, uint64_t change,
                  size_t bytes) {
    rows.push_back(row_of(tree, std::move(key), change, bytes));
    rows.back().deleted = false;
  }

  Random random_;
  uint64_t now_ = 1;
  std::array<Stream, kStreams> streams_;
};

RC_GTEST_PROP(Compaction, ChangesNothingThatIsSeenAndLeavesNothingThatIsDead, ()) {
  const auto seed = *rc::gen::arbitrary<uint64_t>();
  sim::TestWorld world(seed);
  run_property(world, [&](const Env& env) {
    Random random(seed);
    History history(seed);
    Tables tables(env, world);
    for (int round = 0; round < 6; ++round) {
      tables.add(history.go_on());
      tables.expired_by = history.now();
      const std::vector<Row> before = tables.visible();
      const Tree tree = random.chance(1, 2) ? Tree::kMeta : Tree::kData;
      RC_ASSERT(tables.merge(tree, random.next(), random.between(300, 6000)).has_value());
      RC_ASSERT(tables.visible() == before);
    }
    const std::vector<Row> before = tables.visible();
    for (const Tree tree : {Tree::kMeta, Tree::kData}) {
      RC_ASSERT(tables.merge(tree, UINT64_MAX, 4000).has_value());
    }
    RC_ASSERT(tables.visible() == before);
    RC_ASSERT(tables.rows() == before.size());
  });
}

Row hot(uint64_t n, uint64_t generation, uint64_t change, bool deleted) {
  Row row = row_of(Tree::kMeta, row_key::meta(stream(n), Generation(generation), RowKind::kHot),
                   change, 30);
  row.deleted = deleted;
  set_deadline(row, 0);
  return row;
}

TEST(Compaction, KeepsATombstoneWhileAnotherTableMayHoldWhatItHides) {
  sim::TestWorld world;
  world.run([&](const Env& env) {
    Tables tables(env, world);
    tables.add({hot(1, 5, 1, false)});
    tables.add({hot(1, 5, 2, true)});
    ASSERT_TRUE(tables.merge(Tree::kMeta, 0b10, 1000));
    EXPECT_EQ(tables.dropped.tombstones, 0u);
    EXPECT_EQ(tables.rows(), 2u);
    ASSERT_TRUE(tables.merge(Tree::kMeta, 0b11, 1000));
    EXPECT_EQ(tables.dropped.tombstones, 1u);
    EXPECT_EQ(tables.dropped.highest, Generation(5));
    EXPECT_TRUE(tables.tables.empty());
  });
}

Row mortal(uint64_t n, uint64_t generation, uint64_t change, uint64_t deadline) {
  Row row = hot(n, generation, change, false);
  set_deadline(row, deadline);
  return row;
}

Row record(uint64_t n, uint64_t generation, uint64_t change) {
  Row row = row_of(Tree::kData, row_key::data(stream(n), Generation(generation), {change, change}),
                   change, 50);
  row.deleted = false;
  return row;
}

TEST(Compaction, DropsAllOfAStreamWhoseTimeIsOver) {
  sim::TestWorld world;
  world.run([&](const Env& env) {
    for (const uint64_t by : {99, 100}) {
      Tables tables(env, world);
      tables.expired_by = WallTime{static_cast<int64_t>(by)};
      tables.add({mortal(1, 5, 1, 100), record(1, 5, 1)});
      ASSERT_TRUE(tables.merge(Tree::kData, UINT64_MAX, 1000));
      EXPECT_EQ(tables.rows(), by == 100 ? 1u : 2u) << "data goes, because the hot row says so";
      ASSERT_TRUE(tables.merge(Tree::kMeta, UINT64_MAX, 1000));
      EXPECT_EQ(tables.dropped.highest, Generation(by == 100 ? 5 : 0));
      EXPECT_EQ(tables.tables.size(), by == 100 ? 0u : 2u);
    }
  });
}

TEST(Compaction, KeepsAStreamThatAnotherTableHasRenewed) {
  sim::TestWorld world;
  world.run([&](const Env& env) {
    Tables tables(env, world);
    tables.expired_by = WallTime{150};
    tables.add({mortal(1, 5, 1, 100), record(1, 5, 1)});
    tables.add({mortal(1, 5, 2, 200)});
    ASSERT_TRUE(tables.merge(Tree::kMeta, 0b001, 1000));
    EXPECT_EQ(tables.dropped.expired, 0u);
    ASSERT_TRUE(tables.merge(Tree::kData, UINT64_MAX, 1000));
    EXPECT_EQ(tables.rows(), 3u);
    EXPECT_EQ(tables.visible().size(), 2u);
  });
}

TEST(Compaction, TakesNobodyForExpiredWhenNoTimeIsKnown) {
  sim::TestWorld world;
  world.run([&](const Env& env) {
    Tables tables(env, world);
    tables.add({mortal(1, 5, 1, 1), record(1, 5, 1)});
    ASSERT_TRUE(tables.merge(Tree::kData, UINT64_MAX, 1000));
    ASSERT_TRUE(tables.merge(Tree::kMeta, UINT64_MAX, 1000));
    EXPECT_EQ(tables.rows(), 2u);
  });
}

TEST(Compaction, CutsBetweenStreamsUnlessOneIsMuchLargerThanATable) {
  sim::TestWorld world;
  world.run([&](const Env& env) {
    Tables tables(env, world);
    std::vector<Row> rows;
    for (const uint64_t n : {1, 2, 3}) {
      rows.push_back(hot(n, 1, 1, false));
      for (uint64_t end = 1; end <= (n == 2 ? 30 : 4); ++end) {
        rows.push_back(
            row_of(Tree::kData, row_key::data(stream(n), Generation(1), {end, end}), end, 500));
        rows.back().deleted = false;
      }
    }
    tables.add(rows);
    ASSERT_TRUE(tables.merge(Tree::kData, UINT64_MAX, 1500));
    std::erase_if(tables.tables, [](const ManifestTable& t) { return t.tree == Tree::kMeta; });
    size_t shared = 0;
    for (size_t i = 0; i + 1 < tables.tables.size(); ++i) {
      const std::string last = tables.tables[i].streams.last;
      if (last != tables.tables[i + 1].streams.first) continue;
      EXPECT_EQ(last, row_key::stream(stream(2)));
      ++shared;
    }
    EXPECT_GE(shared, 4u);
  });
}

TEST(Compaction, NamesTheTableThatIsDamaged) {
  sim::TestWorld world;
  world.run([&](const Env& env) {
    Tables tables(env, world);
    tables.add({hot(1, 1, 1, false)});
    tables.add({hot(1, 1, 2, true)});
    std::string body = *world.store().peek("sst/1");
    body[40] ^= 1;
    world.store().plant("sst/1", body);
    const auto merged = tables.merge(Tree::kMeta, 0b11, 1000);
    ASSERT_FALSE(merged);
    EXPECT_EQ(merged.error().code, ErrorCode::kCorrupt);
    EXPECT_NE(merged.error().message.find("sst/1"), std::string::npos) << merged.error().message;
  });
}

}  // namespace
}  // namespace morula
