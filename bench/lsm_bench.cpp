// What a row costs: in a memtable, on its way into a table, and found in one whose blocks are in
// the cache.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "bench/lsm_bed.hpp"

namespace morula {
namespace {

/// Fills a memtable of 100,000 rows; reports what a row takes beyond its key and value.
void BM_MemtablePut(benchmark::State& state) {
  const auto rows = rows_of(Tree::kData, static_cast<size_t>(state.range(0)));
  uint64_t payload = 0;
  for (const Row& row : rows) payload += row.key.size() + row.value.size();
  uint64_t bytes = 0;
  for ([[maybe_unused]] auto _ : state) {
    const auto memtable = memtable_of(rows);
    bytes = memtable->bytes();
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * kRows));
  state.counters["overhead_bytes_per_row"] = static_cast<double>(bytes - payload) / kRows;
}
BENCHMARK(BM_MemtablePut)->Arg(100)->Arg(1000)->Unit(benchmark::kMillisecond);

/// A stream's hot row, changed by every append.
void BM_MemtablePutAgain(benchmark::State& state) {
  auto rows = rows_of(Tree::kMeta, 0);
  const auto memtable = memtable_of(rows);
  uint64_t n = 0;
  for ([[maybe_unused]] auto _ : state) {
    Row& row = rows[n++ * 7919 % kRows];
    ++row.change;
    benchmark::DoNotOptimize(memtable->put(row));
  }
}
BENCHMARK(BM_MemtablePutAgain);

void BM_MemtableFind(benchmark::State& state) {
  const auto rows = rows_of(Tree::kMeta, 0);
  const auto memtable = memtable_of(rows);
  uint64_t n = 0;
  for ([[maybe_unused]] auto _ : state) {
    benchmark::DoNotOptimize(memtable->find(Tree::kMeta, rows[n++ * 7919 % kRows].key));
  }
}
BENCHMARK(BM_MemtableFind);

void BM_BuildTable(benchmark::State& state) {
  const auto tree = static_cast<Tree>(state.range(0));
  const ClippedMemtable memtables[] = {
      ClippedMemtable(memtable_of(rows_of(tree, static_cast<size_t>(state.range(1)))))};
  uint64_t bytes = 0;
  for ([[maybe_unused]] auto _ : state) bytes += build_table(memtables, tree)->bytes.size();
  state.SetBytesProcessed(static_cast<int64_t>(bytes));
  state.counters["bytes_per_row"] = static_cast<double>(bytes) / kRows / state.iterations();
}
BENCHMARK(BM_BuildTable)
    ->ArgNames({"tree", "value"})
    ->Args({0, 40})
    ->Args({1, 100})
    ->Args({1, 1000})
    ->Unit(benchmark::kMillisecond);

/// The hot row of a stream that is in one of several tables, all blocks in the cache.
void BM_FindHotInTables(benchmark::State& state) {
  LsmBed bench;
  const auto rows = rows_of(Tree::kMeta, 0);
  bench.run([&] {
    const auto tables = static_cast<size_t>(state.range(0));
    const TreeReader reader = bench.reader_of(Tree::kMeta, rows, tables);
    for (const Row& row : rows) benchmark::DoNotOptimize(reader.find(row.key));
    uint64_t n = 0;
    for ([[maybe_unused]] auto _ : state) {
      const StreamId id = row_key::stream_id(rows[n++ * 7919 % kRows].key);
      if (!*reader.find_hot(id)) std::abort();
    }
  });
}
BENCHMARK(BM_FindHotInTables)->ArgName("tables")->Arg(1)->Arg(8);

/// 100 rows of 1,000 bytes of one stream, all blocks in the cache.
void BM_ScanTable(benchmark::State& state) {
  LsmBed bench;
  const auto rows = rows_of(Tree::kData, 1'000);
  uint64_t bytes = 0;
  bench.run([&] {
    const TreeReader reader = bench.reader_of(Tree::kData, rows, 1);
    uint64_t n = 0;
    for ([[maybe_unused]] auto _ : state) {
      const StreamId id = row_key::stream_id(rows[n++ % 1'000].key);
      DataScan scan{id, Generation(1), {}, {kRows, 0}, kMiB};
      const auto take = [](const RowView&) { return true; };
      if (!reader.scan_data(scan, take)) std::abort();
      bytes += scan.bytes;
    }
  });
  state.SetBytesProcessed(static_cast<int64_t>(bytes));
}
BENCHMARK(BM_ScanTable)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace morula

BENCHMARK_MAIN();
