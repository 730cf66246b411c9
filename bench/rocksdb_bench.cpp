// The same rows in tables of ours and in RocksDB, one after the other: loaded, found by key,
// walked. Both have LZ4, filters of 12 bits and all blocks in their caches. Ratios of neighbouring
// lines count, not the figures.
#include <benchmark/benchmark.h>
#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>
#include <rocksdb/write_batch.h>

#include <cstdlib>
#include <filesystem>
#include <memory>

#include "bench/lsm_bed.hpp"

namespace morula {
namespace {

constexpr size_t kValueBytes = 400;

rocksdb::Options rocks_options(Tree tree) {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = rocksdb::NewLRUCache(256 * kMiB);
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(12));
  table.block_size = tree == Tree::kMeta ? 4 * kKiB : 32 * kKiB;
  table.format_version = 5;
  rocksdb::Options options;
  options.create_if_missing = true;
  options.compression = rocksdb::kLZ4Compression;
  options.write_buffer_size = 256 * kMiB;
  options.disable_auto_compactions = true;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

/// A database of its own in a fresh directory.
class Rocks {
 public:
  explicit Rocks(Tree tree) {
    char place[] = "/tmp/bench_rocksdb.XXXXXX";
    if (::mkdtemp(place) == nullptr) std::abort();
    place_ = place;
    rocksdb::DB* opened = nullptr;
    if (!rocksdb::DB::Open(rocks_options(tree), place_, &opened).ok()) std::abort();
    db.reset(opened);
  }
  ~Rocks() {
    db.reset();
    std::filesystem::remove_all(place_);
  }
  Rocks(const Rocks&) = delete;
  Rocks& operator=(const Rocks&) = delete;

  void load(const std::vector<Row>& rows) {
    rocksdb::WriteOptions no_log;
    no_log.disableWAL = true;
    for (const Row& row : rows) {
      if (!db->Put(no_log, row.key, row.value).ok()) std::abort();
    }
    if (!db->Flush({}).ok()) std::abort();
  }

  std::unique_ptr<rocksdb::DB> db;

 private:
  std::string place_;
};

/// 100,000 rows from memory into a table that could be put into a store.
void BM_Load(benchmark::State& state) {
  const auto rows = rows_of(Tree::kData, kValueBytes);
  for ([[maybe_unused]] auto _ : state) {
    const ClippedMemtable memtables[] = {ClippedMemtable(memtable_of(rows))};
    benchmark::DoNotOptimize(build_table(memtables, Tree::kData)->bytes.size());
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * kRows));
}
BENCHMARK(BM_Load)->MeasureProcessCPUTime()->Unit(benchmark::kMillisecond);

/// Its file is written to the page cache, ours is not.
void BM_LoadRocksDb(benchmark::State& state) {
  const auto rows = rows_of(Tree::kData, kValueBytes);
  for ([[maybe_unused]] auto _ : state) {
    state.PauseTiming();
    auto rocks = std::make_unique<Rocks>(Tree::kData);
    state.ResumeTiming();
    rocks->load(rows);
    state.PauseTiming();
    rocks.reset();
    state.ResumeTiming();
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * kRows));
}
// It flushes on a thread of its own.
BENCHMARK(BM_LoadRocksDb)->MeasureProcessCPUTime()->Unit(benchmark::kMillisecond);

void BM_Find(benchmark::State& state) {
  LsmBed bed;
  const auto rows = rows_of(Tree::kMeta, 0);
  bed.run([&] {
    const TreeReader reader = bed.reader_of(Tree::kMeta, rows, 1);
    for (const Row& row : rows) benchmark::DoNotOptimize(reader.find(row.key));
    uint64_t n = 0;
    for ([[maybe_unused]] auto _ : state) {
      const auto found = reader.find(rows[n++ * 7919 % kRows].key);
      if (!found || !*found) std::abort();
    }
  });
}
BENCHMARK(BM_Find);

void BM_FindRocksDb(benchmark::State& state) {
  const auto rows = rows_of(Tree::kMeta, 0);
  Rocks rocks(Tree::kMeta);
  rocks.load(rows);
  std::string value;
  for (const Row& row : rows) {
    if (!rocks.db->Get({}, row.key, &value).ok()) std::abort();
  }
  uint64_t n = 0;
  for ([[maybe_unused]] auto _ : state) {
    if (!rocks.db->Get({}, rows[n++ * 7919 % kRows].key, &value).ok()) std::abort();
  }
}
BENCHMARK(BM_FindRocksDb);

/// The 100 rows of one stream.
void BM_Scan(benchmark::State& state) {
  LsmBed bed;
  const auto rows = rows_of(Tree::kData, kValueBytes);
  uint64_t bytes = 0;
  bed.run([&] {
    const TreeReader reader = bed.reader_of(Tree::kData, rows, 1);
    uint64_t n = 0;
    for ([[maybe_unused]] auto _ : state) {
      const StreamId id = row_key::stream_id(rows[n++ % 1'000].key);
      DataScan scan{id, Generation(1), {}, {kRows, UINT64_MAX}, kMiB};
      const auto take = [&](const RowView& row) {
        bytes += row.value.size();
        return true;
      };
      if (!reader.scan_data(scan, take)) std::abort();
    }
  });
  state.SetBytesProcessed(static_cast<int64_t>(bytes));
}
BENCHMARK(BM_Scan)->Unit(benchmark::kMicrosecond);

void BM_ScanRocksDb(benchmark::State& state) {
  const auto rows = rows_of(Tree::kData, kValueBytes);
  Rocks rocks(Tree::kData);
  rocks.load(rows);
  uint64_t bytes = 0;
  uint64_t n = 0;
  for ([[maybe_unused]] auto _ : state) {
    const std::string prefix = row_key::stream(row_key::stream_id(rows[n++ % 1'000].key));
    const std::unique_ptr<rocksdb::Iterator> walk(rocks.db->NewIterator({}));
    for (walk->Seek(prefix); walk->Valid() && walk->key().starts_with(prefix); walk->Next()) {
      bytes += walk->value().size();
    }
  }
  state.SetBytesProcessed(static_cast<int64_t>(bytes));
}
BENCHMARK(BM_ScanRocksDb)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace morula

BENCHMARK_MAIN();
