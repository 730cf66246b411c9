// The index tree: its order, scans of it, and how it is merged.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <tuple>

#include "core/base/codec.hpp"
#include "core/lsm/compaction_merge.hpp"
#include "core/lsm/tree_reader.hpp"
#include "tests/lsm/property_world.hpp"
#include "tests/lsm/random_rows.hpp"

namespace morula {
namespace {

using Name = std::tuple<std::string, std::string, uint64_t>;  // tenant, path, ~generation

/// One id for each name, as a hash gives them: in another order than the names.
StreamId id_of(const std::string& tenant, const std::string& path) {
  const uint64_t hash = checksum(tenant + '\0' + path);
  return {hash, hash * 31};
}

rc::Gen<Name> names() {
  return rc::gen::tuple(
      rc::gen::element<std::string>("a", "a.b", "b", "t-1"),
      rc::gen::element<std::string>("a", "a b", "a/b", "ab", "abc", "b", "\xc3\xa9", "z/1", "z/10",
                                    std::string(300, 'z')),
      rc::gen::map(rc::gen::inRange<uint64_t>(1, 4), [](uint64_t n) { return ~n; }));
}

std::string key_of(const Name& name) {
  const auto& [tenant, path, inverted] = name;
  return row_key::listing(tenant, path, Generation(~inverted), id_of(tenant, path));
}

RC_GTEST_PROP(IndexKey, OrdersByTenantThenPathThenNewestFirst, ()) {
  const Name a = *names();
  const Name b = *names();
  const std::string key = key_of(a);
  RC_ASSERT((key < key_of(b)) == (a < b));
  const auto parts = row_key::parse(Tree::kIndex, key);
  RC_ASSERT(parts.has_value());
  RC_ASSERT(parts->tenant == std::get<0>(a));
  RC_ASSERT(parts->path == std::get<1>(a));
  RC_ASSERT(~parts->generation.value == std::get<2>(a));
  RC_ASSERT(parts->id == id_of(std::get<0>(a), std::get<1>(a)));
  RC_ASSERT(row_key::stream_id(Tree::kIndex, key) == parts->id);
  const bool same_stream = std::get<0>(a) == std::get<0>(b) && std::get<1>(a) == std::get<1>(b);
  RC_ASSERT((row_key::place(Tree::kIndex, key) == row_key::place(Tree::kIndex, key_of(b))) ==
            same_stream);
}

RC_GTEST_PROP(IndexKey, BoundsHoldWhatHasThePrefixAndLiesAbove, ()) {
  const auto [tenant, path, inverted] = *names();
  const std::string key = key_of({tenant, path, inverted});
  const auto [asked_tenant, asked, unused] = *names();
  const bool has_prefix = tenant == asked_tenant && path.starts_with(asked);
  RC_ASSERT((row_key::listing_begin(asked_tenant, asked) <= key &&
             key < row_key::listing_end(asked_tenant, asked)) == has_prefix);
  if (tenant == asked_tenant) {
    RC_ASSERT((row_key::listing_after(asked_tenant, asked) <= key) == (path > asked));
  }
}

TEST(IndexKey, NothingElseIsOne) {
  const std::string key = row_key::listing("t", "p", Generation(1), {1, 2});
  EXPECT_TRUE(row_key::parse(Tree::kIndex, key));
  for (size_t bytes = 0; bytes < key.size(); ++bytes) {
    EXPECT_FALSE(row_key::parse(Tree::kIndex, key.substr(0, bytes)));
  }
  EXPECT_FALSE(row_key::parse(Tree::kIndex, '\1' + key.substr(1)));
  EXPECT_FALSE(row_key::parse(Tree::kIndex, key.substr(0, 1) + key.substr(2))) << "no tenant";
  EXPECT_FALSE(row_key::parse(Tree::kIndex, key + "x"));
}

/// Tables in a store, and what a reader of them sees.
struct Shelf {
  const Env& env;
  sim::TestWorld& world;
  BlockCache cache{kMiB};
  std::vector<ManifestTable> tables = {};
  TreeSources sources = {};

  void add(TableBuilder& builder, Prefix clip = {}) {
    const std::string key = "sst/" + std::to_string(tables.size());
    ManifestTable table{key, Tree::kIndex, clip, 0, 0, builder.streams()};
    std::string bytes = builder.finish();
    table.bytes = bytes.size();
    world.store().plant(key, std::move(bytes));
    sources.tables.push_back(
        {*Table::open(env, cache, key, table.bytes, Tree::kIndex), clip, table.streams});
    tables.push_back(table);
  }
};

RC_GTEST_PROP(IndexTree, AScanGivesTheNewestRowsInOrderWithinTheClips, ()) {
  struct Source {
    TreeModel rows;
    Prefix clip;
  };
  std::vector<Source> given(*rc::gen::inRange<size_t>(1, 6));
  TreeModel model;
  uint64_t change = 0;
  for (Source& source : given) {
    const auto drawn = *rc::gen::container<std::vector<Name>>(names());
    source.clip = *Prefix::parse(*rc::gen::element<std::string>("root", "root", "0", "1", "01"));
    for (const Name& name : drawn) {
      const Row row = row_of(Tree::kIndex, key_of(name), ++change);
      model_put(source.rows, row);
      if (source.clip.contains(row_key::stream_id(Tree::kIndex, row.key))) model_put(model, row);
    }
  }
  const Name from = *names();
  const Name end = *names();
  const size_t stop_after = *rc::gen::inRange<size_t>(1, 8);
  sim::TestWorld world;
  run_property(world, [&](const Env& env) {
    Shelf shelf{env, world};
    auto memtable = std::make_shared<Memtable>();
    for (size_t i = 0; i < given.size(); ++i) {
      if (given[i].rows.empty()) continue;
      const bool in_memory = i % 3 == 2 && given[i].clip == Prefix{};
      TableBuilder builder(Tree::kIndex, {200, 600});
      for (const auto& [key, row] : given[i].rows) {
        in_memory ? void(memtable->put(row)) : builder.add(row);
      }
      if (!in_memory) shelf.add(builder, given[i].clip);
    }
    shelf.sources.memtables.emplace_back(memtable);
    const TreeReader reader(Tree::kIndex, shelf.sources);
    RangeScan scan{key_of(from), key_of(end)};
    std::vector<Row> seen;
    // In pieces, each taken up where the one before broke off.
    for (size_t before = 1; before != seen.size();) {
      before = seen.size();
      size_t left = stop_after;
      RC_ASSERT(reader.scan_range(scan, [&](const RowView& row) {
        seen.push_back(row.copy(Tree::kIndex));
        return --left > 0;
      }));
      if (seen.empty()) break;
    }
    auto at = model.lower_bound(key_of(from));
    for (const Row& row : seen) {
      RC_ASSERT(at != model.end());
      RC_ASSERT(row.key == at->second.key);
      RC_ASSERT(row.change == at->second.change);
      RC_ASSERT(row.deleted == at->second.deleted);
      ++at;
    }
    const bool is_all = at == model.end() || at->first >= key_of(end);
    RC_ASSERT(is_all);
  });
}

/// The listed paths of tenant "t", as a listing sees them.
std::vector<std::string> listed(const TreeReader& reader) {
  RangeScan scan{row_key::listing_begin("t", ""), row_key::listing_end("t", "")};
  std::vector<std::string> paths;
  std::string last;
  EXPECT_TRUE(reader.scan_range(scan, [&](const RowView& row) {
    const auto parts = *row_key::parse(Tree::kIndex, row.key);
    if (parts.path != last && !row.deleted) paths.emplace_back(parts.path);
    last = parts.path;
    return true;
  }));
  return paths;
}

Row listing_row(const std::string& path, uint64_t generation, bool deleted = false) {
  return {Tree::kIndex, row_key::listing("t", path, Generation(generation), id_of("t", path)),
          ChangeNumber(deleted ? 2 : 1), deleted, "v"};
}

/// Merges the first `inputs` tables of the shelf; the rest stays outside.
std::optional<std::vector<Row>> merged(Shelf& shelf, size_t inputs) {
  std::vector<TableScan> scans;
  std::vector<ManifestTable> outside;
  for (size_t i = 0; i < shelf.tables.size(); ++i) {
    const ManifestTable& table = shelf.tables[i];
    if (i < inputs) {
      scans.push_back({shelf.sources.tables[i].table, table.clip, 600});
    } else {
      outside.push_back(table);
    }
  }
  CompactionMerge merge(Tree::kIndex, std::move(scans), outside, std::nullopt, {}, kMiB, 0);
  TableBuilder output(Tree::kIndex);
  do {
    if (!merge.read_more()) return std::nullopt;
  } while (merge.merge(output) == CompactionMerge::Pause::kWantsMore);
  EXPECT_EQ(merge.take_unlisted(), nullptr);
  if (output.rows() == 0) return std::vector<Row>();
  Shelf result{shelf.env, shelf.world};
  const std::string key = "merged";
  std::string bytes = output.finish();
  const uint64_t size = bytes.size();
  shelf.world.store().plant(key, std::move(bytes));
  TableScan scan(*Table::open(shelf.env, shelf.cache, key, size, Tree::kIndex), {}, kMiB);
  if (!scan.read_more()) return std::nullopt;
  std::vector<Row> rows;
  for (; scan.valid(); scan.next()) rows.push_back(scan.row().copy(Tree::kIndex));
  return rows;
}

TEST(IndexTree, AMergeKeepsOfEachPathTheNewestCreation) {
  sim::TestWorld world;
  world.run([&](const Env& env) {
    Shelf shelf{env, world};
    for (const auto& rows : {std::vector{listing_row("a", 1), listing_row("b", 1)},
                             std::vector{listing_row("a", 1, true), listing_row("c", 7)},
                             std::vector{listing_row("b", 4), listing_row("b", 1, true)}}) {
      TableBuilder builder(Tree::kIndex);
      for (const Row& row : rows) builder.add(row);
      shelf.add(builder);
    }
    EXPECT_EQ(listed(TreeReader(Tree::kIndex, shelf.sources)),
              (std::vector<std::string>{"b", "c"}));
    const auto rows = merged(shelf, 3);
    ASSERT_TRUE(rows);
    ASSERT_EQ(rows->size(), 2u);
    EXPECT_EQ((*rows)[0].key, listing_row("b", 4).key);
    EXPECT_EQ((*rows)[1].key, listing_row("c", 7).key);
  });
}

TEST(IndexTree, ATombstoneStaysWhileATableOutsideMayListTheStream) {
  sim::TestWorld world;
  world.run([&](const Env& env) {
    Shelf shelf{env, world};
    for (const auto& rows :
         {std::vector{listing_row("b", 1, true)}, std::vector{listing_row("q", 1, true)},
          std::vector{listing_row("a", 1), listing_row("b", 1), listing_row("c", 1)}}) {
      TableBuilder builder(Tree::kIndex);
      for (const Row& row : rows) builder.add(row);
      shelf.add(builder);
    }
    const auto rows = merged(shelf, 2);
    ASSERT_TRUE(rows);
    ASSERT_EQ(rows->size(), 1u) << "that of q hides nothing";
    EXPECT_EQ(rows->front().key, listing_row("b", 1).key);
    EXPECT_TRUE(rows->front().deleted);
  });
}

}  // namespace
}  // namespace morula
