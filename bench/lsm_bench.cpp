// What a row costs: in a memtable, on its way into a table, and found in one whose blocks are in
// the cache.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/lsm/memtable.hpp"
#include "core/lsm/table.hpp"
#include "core/lsm/table_builder.hpp"
#include "core/lsm/tree_reader.hpp"
#include "core/rt/clock.hpp"
#include "core/rt/compute.hpp"
#include "core/rt/fiber.hpp"
#include "core/rt/network.hpp"
#include "core/rt/platform.hpp"
#include "core/rt/random.hpp"
#include "core/rt/store.hpp"
#include "core/rt/trace.hpp"

namespace morula {
namespace {

constexpr uint64_t kRows = 100'000;

/// One append of a stream's: ids are spread like hashes.
Row data_row(uint64_t n, uint64_t streams, size_t value_bytes) {
  Random random(n % streams);
  const StreamId id{random.next(), random.next()};
  return {Tree::kData, row_key::data(id, Generation(1), {n, n * value_bytes}), ChangeNumber(n),
          false, std::string(value_bytes, 'x')};
}

Row hot_row(uint64_t n) {
  Random random(n);
  const StreamId id{random.next(), random.next()};
  return {Tree::kMeta, row_key::meta(id, Generation(1), RowKind::kHot), ChangeNumber(1), false,
          std::string(40, 'x')};
}

std::vector<Row> rows_of(Tree tree, size_t value_bytes) {
  std::vector<Row> rows;
  rows.reserve(kRows);
  for (uint64_t n = 0; n < kRows; ++n) {
    rows.push_back(tree == Tree::kMeta ? hot_row(n) : data_row(n, 1'000, value_bytes));
  }
  return rows;
}

std::shared_ptr<Memtable> memtable_of(const std::vector<Row>& rows) {
  auto memtable = std::make_shared<Memtable>();
  for (const Row& row : rows) memtable->put(row);
  return memtable;
}

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
  const std::shared_ptr<const Memtable> memtables[] = {
      memtable_of(rows_of(tree, static_cast<size_t>(state.range(1))))};
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

/// Objects in memory that are there at once; nothing else of the outside world.
class MemoryStore final : public Store {
 public:
  std::map<std::string, std::string, std::less<>> objects;

  StoreAbilities abilities() const override { return {}; }
  Result<StoredObject> get(std::string_view key, std::optional<ByteRange> range,
                           const RequestOptions&) override {
    const std::string& body = objects.find(key)->second;
    return StoredObject{make_blob(range ? body.substr(range->offset, range->length) : body), ""};
  }
  Result<ObjectInfo> head(std::string_view, const RequestOptions&) override { std::abort(); }
  Result<Etag> put(std::string_view, Blob, const Precondition&, const RequestOptions&) override {
    std::abort();
  }
  Result<> remove(std::string_view, const RequestOptions&) override { std::abort(); }
  Result<> remove_many(std::span<const std::string>, const RequestOptions&) override {
    std::abort();
  }
  Result<Listing> list(std::string_view, std::string_view, size_t, const RequestOptions&) override {
    std::abort();
  }
};

class StoppedClock final : public Clock {
 public:
  Time now() const override { return {}; }
  WallTime wall() const override { return {}; }
  TimerId arm(Time, TimerAction, void*) override { std::abort(); }
  void disarm(TimerId) override {}
};

class NoTrace final : public Trace {
 public:
  void step(const StepEvent&) override {}
  void log(Severity, std::string_view, std::initializer_list<LogField>) override {}
  void sometimes(std::string_view, bool) override {}
};

class NoNetwork final : public Network {
 public:
  std::string address() const override { return {}; }
  Result<HttpResponse> call(const std::string&, const HttpRequest&, Time) override { std::abort(); }
  void serve(Scope&, Handler) override { std::abort(); }
  void stop_serving() override {}
};

class InlineCompute final : public Compute {
 public:
  void run(const std::function<void()>& work) override { work(); }
};

class NoPlatform final : public Platform {
 public:
  ProcessIdentity self() const override { return {}; }
  bool provably_gone(const ProcessIdentity&) const override { return false; }
};

struct Bench {
  Scheduler scheduler;
  Domain domain{scheduler, "bench"};
  StoppedClock clock;
  NoNetwork network;
  MemoryStore store;
  Random random{1};
  InlineCompute compute;
  NoPlatform platform;
  NoTrace trace;
  Env env{domain, clock, network, store, random, compute, platform, trace};
  BlockCache cache{256 * kMiB};

  /// Runs `body` in a fiber: lookups may suspend.
  template <class Body>
  void run(Body body) {
    Scope scope(domain);
    scope.spawn("bench", std::move(body));
    scheduler.run_ready();
  }

  /// The rows as `tables` tables, each with a share of the streams.
  TreeReader reader_of(Tree tree, const std::vector<Row>& rows, size_t tables) {
    TreeSources sources;
    for (size_t part = 0; part < tables; ++part) {
      auto memtable = std::make_shared<Memtable>();
      for (const Row& row : rows) {
        if (row_key::stream_id(row.key).low % tables == part) memtable->put(row);
      }
      const std::shared_ptr<const Memtable> memtables[] = {memtable};
      const std::string key = std::to_string(part);
      store.objects[key] = build_table(memtables, tree)->bytes;
      sources.tables.push_back(
          {*Table::open(env, cache, key, store.objects[key].size(), tree), {}, {}});
    }
    return {tree, sources};
  }
};

/// The hot row of a stream that is in one of several tables, all blocks in the cache.
void BM_FindHotInTables(benchmark::State& state) {
  Bench bench;
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
  Bench bench;
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
