// What an append costs through the log writer when the store is instant: time, and heap
// allocations. Aim: the writer adds less than a microsecond and less than one allocation to a
// record that shares its batch with some dozens. And what encoding and decoding a batch costs.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <map>
#include <optional>
#include <string>

#include "bench/counting_new.hpp"
#include "bench/quiet_env.hpp"
#include "core/log/log_object.hpp"
#include "core/log/log_writer.hpp"
#include "core/rt/clock.hpp"
#include "core/rt/env.hpp"
#include "core/rt/fiber.hpp"
#include "core/rt/random.hpp"
#include "core/rt/store.hpp"

namespace morula {
namespace {

/// Stands still: nothing in these benchmarks waits for time.
class StillClock final : public Clock {
 public:
  Time now() const override { return Time{std::chrono::seconds(1)}; }
  WallTime wall() const override { return WallTime{1}; }
  TimerId arm(Time, TimerAction, void*) override { return 1; }
  void disarm(TimerId) override {}
};

/// Every put succeeds before it returns; nothing is kept.
class InstantStore final : public Store {
 public:
  StoreAbilities abilities() const override { return {}; }
  Result<StoredObject> get(std::string_view, std::optional<ByteRange>,
                           const RequestOptions&) override {
    return fail(ErrorCode::kNotFound, "nothing is kept");
  }
  Result<ObjectInfo> head(std::string_view, const RequestOptions&) override {
    return fail(ErrorCode::kNotFound, "nothing is kept");
  }
  Result<Etag> put(std::string_view, Blob body, const Precondition&,
                   const RequestOptions&) override {
    ++puts;
    bytes += body->size();
    return Etag("e");
  }
  Result<> remove(std::string_view, const RequestOptions&) override { return {}; }
  Result<> remove_many(std::span<const std::string>, const RequestOptions&) override { return {}; }
  Result<Listing> list(std::string_view, std::string_view, size_t, const RequestOptions&) override {
    return Listing{};
  }
  uint64_t puts = 0;
  uint64_t bytes = 0;
};

struct Bench {
  Scheduler scheduler;
  Domain domain{scheduler, "bench"};
  StillClock clock;
  InstantStore store;
  NoNetwork network;
  InlineCompute compute;
  NoPlatform platform;
  NoTrace trace;
  Random random{1};
  Env env{domain, clock, network, store, random, compute, platform, trace};
};

const IncarnationId kSelf{"bench", Ulid{1, 2}};

/// Appenders that each wait for their record before the next: one iteration is one append.
void BM_AppendAndWait(benchmark::State& state) {
  Bench bench;
  const std::string payload(static_cast<size_t>(state.range(1)), 'x');
  std::optional<LogWriter> log;
  Scope scope(bench.domain);
  log.emplace(bench.env, LogConfig{}, kSelf, scope);
  uint64_t appends = 0;
  bool stop = false;
  for (int64_t i = 0; i < state.range(0); ++i) {
    scope.spawn("appender", [&] {
      while (!stop) {
        const LogSeq seq = log->append(StreamId{appends, 1}, payload);
        if (!log->wait_acknowledged(seq)) std::abort();
        ++appends;
      }
    });
  }
  bench.scheduler.run_ready(1000);
  const uint64_t allocations_before = allocations;
  const uint64_t puts_before = bench.store.puts;
  const uint64_t appends_before = appends;
  for (auto _ : state) {
    const uint64_t next = appends + 1;
    while (appends < next) bench.scheduler.run_one();
  }
  const auto done = static_cast<double>(appends - appends_before);
  state.counters["allocations"] = static_cast<double>(allocations - allocations_before) / done;
  state.counters["per_put"] = done / static_cast<double>(bench.store.puts - puts_before);
  stop = true;
  bench.scheduler.run_ready();
  scope.cancel();
  bench.scheduler.run_ready();
}
BENCHMARK(BM_AppendAndWait)->Args({1, 100})->Args({64, 100})->Args({1000, 100})->Args({64, 4096});

/// Records that fill batches to their bound; nobody waits.
void BM_FillBatches(benchmark::State& state) {
  Bench bench;
  const std::string payload(static_cast<size_t>(state.range(0)), 'x');
  std::optional<LogWriter> log;
  Scope scope(bench.domain);
  log.emplace(bench.env, LogConfig{}, kSelf, scope);
  uint64_t gathered = 0;
  const uint64_t allocations_before = allocations;
  for (auto _ : state) {
    log->append(StreamId{1, 1}, payload);
    gathered += payload.size();
    if (gathered < kMiB) continue;
    bench.scheduler.run_ready();
    gathered = 0;
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
  state.counters["allocations"] = static_cast<double>(allocations - allocations_before) /
                                  static_cast<double>(state.iterations());
  scope.cancel();
  bench.scheduler.run_ready();
}
BENCHMARK(BM_FillBatches)->Arg(100)->Arg(1000)->Arg(64 * 1024);

std::string batch_of_a_mebibyte(size_t payload_bytes) {
  LogBatchBuilder builder(kSelf, LogSeq(1), 1, kMiB);
  const std::string payload(payload_bytes, 'x');
  while (builder.bytes() < kMiB) builder.add(StreamId{1, 1}, payload);
  return builder.finish(WallTime{});
}

void BM_EncodeBatch(benchmark::State& state) {
  uint64_t bytes = 0;
  for (auto _ : state) {
    const std::string batch = batch_of_a_mebibyte(static_cast<size_t>(state.range(0)));
    bytes += batch.size();
    benchmark::DoNotOptimize(batch.data());
  }
  state.SetBytesProcessed(static_cast<int64_t>(bytes));
}
BENCHMARK(BM_EncodeBatch)->Arg(100)->Arg(1000);

void BM_DecodeBatch(benchmark::State& state) {
  const std::string batch = batch_of_a_mebibyte(static_cast<size_t>(state.range(0)));
  for (auto _ : state) {
    auto object = decode_log_object(batch);
    benchmark::DoNotOptimize(object);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(batch.size()));
}
BENCHMARK(BM_DecodeBatch)->Arg(100)->Arg(1000);

}  // namespace
}  // namespace morula

BENCHMARK_MAIN();
