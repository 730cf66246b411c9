// Rows and tables for benchmarks of core/lsm.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "bench/memory_store.hpp"
#include "bench/quiet_env.hpp"
#include "core/lsm/memtable.hpp"
#include "core/lsm/table.hpp"
#include "core/lsm/table_builder.hpp"
#include "core/lsm/tree_reader.hpp"
#include "core/rt/clock.hpp"
#include "core/rt/fiber.hpp"
#include "core/rt/random.hpp"

namespace morula {

inline constexpr uint64_t kRows = 100'000;

/// Half of it packs, half doesn't.
inline std::string value_of(uint64_t n, size_t bytes) {
  Random random(n);
  std::string value(bytes, 'x');
  for (size_t i = 0; i < bytes / 2; ++i) value[i] = static_cast<char>(random.next());
  return value;
}

/// One append of a stream's: ids are spread like hashes.
inline Row data_row(uint64_t n, uint64_t streams, size_t value_bytes) {
  Random random(n % streams);
  const StreamId id{random.next(), random.next()};
  return {Tree::kData, row_key::data(id, Generation(1), {n + 1, (n + 1) * value_bytes}),
          ChangeNumber(n + 1), false, value_of(n, value_bytes)};
}

inline Row hot_row(uint64_t n) {
  Random random(n);
  const StreamId id{random.next(), random.next()};
  return {Tree::kMeta, row_key::meta(id, Generation(1), RowKind::kHot), ChangeNumber(1), false,
          value_of(n, 40)};
}

inline std::vector<Row> rows_of(Tree tree, size_t value_bytes) {
  std::vector<Row> rows;
  rows.reserve(kRows);
  for (uint64_t n = 0; n < kRows; ++n) {
    rows.push_back(tree == Tree::kMeta ? hot_row(n) : data_row(n, 1'000, value_bytes));
  }
  return rows;
}

inline std::shared_ptr<Memtable> memtable_of(const std::vector<Row>& rows) {
  auto memtable = std::make_shared<Memtable>();
  for (const Row& row : rows) memtable->put(row);
  return memtable;
}

class StoppedClock final : public Clock {
 public:
  Time now() const override { return {}; }
  WallTime wall() const override { return {}; }
  TimerId arm(Time, TimerAction, void*) override { std::abort(); }
  void disarm(TimerId) override {}
};

/// What reads tables, over a store in memory; nothing else of the outside world.
struct LsmBed {
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
      const ClippedMemtable memtables[] = {ClippedMemtable(memtable)};
      const std::string key = std::to_string(part);
      const Blob table = make_blob(build_table(memtables, tree)->bytes);
      (void)store.put(key, table, Precondition::none(), {});
      sources.tables.push_back({*Table::open(env, cache, key, table->size(), tree), {}, {}});
    }
    return {tree, sources};
  }
};

}  // namespace morula
