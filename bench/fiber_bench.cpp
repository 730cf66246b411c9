// What a fiber costs. Aims: a switch under 50 ns, spawn to finish under 200 ns, a parked fiber
// under 5 KiB.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstdio>

#include "core/rt/fiber.hpp"
#include "core/rt/random.hpp"

namespace morula {
namespace {

/// Resident memory of this process, in bytes.
uint64_t resident_bytes() {
  unsigned long long total = 0;
  unsigned long long resident = 0;
  std::FILE* statm = std::fopen("/proc/self/statm", "r");
  if (statm == nullptr || std::fscanf(statm, "%llu %llu", &total, &resident) != 2) std::abort();
  std::fclose(statm);
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

// Must be the first to run: stacks that others have used count for nothing here.
void BM_MemoryPerParkedFiber(benchmark::State& state) {
  constexpr uint64_t kFibers = 10'000;
  Scheduler scheduler;
  Domain domain(scheduler, "bench");
  WaitList list;
  uint64_t bytes = 0;
  for (auto _ : state) {
    Scope scope(domain);
    const uint64_t before = resident_bytes();
    for (uint64_t i = 0; i < kFibers; ++i) {
      scope.spawn("parked", [&list] { list.wait(); });
    }
    scheduler.run_ready();
    bytes = (resident_bytes() - before) / kFibers;
    list.wake_all();
    scheduler.run_ready();
  }
  state.counters["bytes_per_fiber"] = static_cast<double>(bytes);
}
BENCHMARK(BM_MemoryPerParkedFiber)->Iterations(1)->Unit(benchmark::kMillisecond);

/// Fibers that yield to each other in turn: one iteration is one switch from a fiber to the next.
void run_switches(benchmark::State& state, Scheduler& scheduler) {
  Domain domain(scheduler, "bench");
  Scope scope(domain);
  bool stop = false;
  for (int64_t i = 0; i < state.range(0); ++i) {
    scope.spawn("switcher", [&] {
      while (!stop) yield();
    });
  }
  scheduler.run_ready(static_cast<size_t>(state.range(0)));
  constexpr size_t kBatch = 1024;
  while (state.KeepRunningBatch(kBatch)) scheduler.run_ready(kBatch);
  stop = true;
  scheduler.run_ready();
}

void BM_Switch(benchmark::State& state) {
  Scheduler scheduler;
  run_switches(state, scheduler);
}
BENCHMARK(BM_Switch)->Arg(2)->Arg(64)->Arg(1024);

void BM_SwitchInDrawnOrder(benchmark::State& state) {
  Random order(1);
  Scheduler scheduler(order);
  run_switches(state, scheduler);
}
BENCHMARK(BM_SwitchInDrawnOrder)->Arg(64);

/// One iteration wakes a parked fiber, which runs and parks again.
void BM_WakeAndPark(benchmark::State& state) {
  Scheduler scheduler;
  Domain domain(scheduler, "bench");
  Scope scope(domain);
  WaitList list;
  scope.spawn("waiter", [&] {
    for (;;) list.wait();
  });
  scheduler.run_ready();
  for (auto _ : state) {
    list.wake_one();
    scheduler.run_ready();
  }
  scope.cancel();
  scheduler.run_ready();
}
BENCHMARK(BM_WakeAndPark);

void BM_SpawnToFinish(benchmark::State& state) {
  Scheduler scheduler;
  Domain domain(scheduler, "bench");
  Scope scope(domain);
  uint64_t ran = 0;
  for (auto _ : state) {
    scope.spawn("short", [&ran] { ++ran; });
    scheduler.run_ready();
  }
  benchmark::DoNotOptimize(ran);
}
BENCHMARK(BM_SpawnToFinish);

/// As above, with `range` fibers spawned before the first of them runs; the time is per fiber.
void BM_SpawnManyToFinish(benchmark::State& state) {
  Scheduler scheduler;
  Domain domain(scheduler, "bench");
  Scope scope(domain);
  const auto count = static_cast<size_t>(state.range(0));
  uint64_t ran = 0;
  while (state.KeepRunningBatch(state.range(0))) {
    for (size_t i = 0; i < count; ++i) scope.spawn("short", [&ran] { ++ran; });
    scheduler.run_ready();
  }
  benchmark::DoNotOptimize(ran);
}
BENCHMARK(BM_SpawnManyToFinish)->Arg(64)->Arg(4096);

/// A fiber that catches Cancelled at its suspension point and ends.
void BM_CancelToFinish(benchmark::State& state) {
  Scheduler scheduler;
  Domain domain(scheduler, "bench");
  WaitList list;
  for (auto _ : state) {
    Scope scope(domain);
    scope.spawn("cancelled", [&list] { list.wait(); });
    scheduler.run_ready();
    scope.cancel();
    scheduler.run_ready();
  }
}
BENCHMARK(BM_CancelToFinish);

}  // namespace
}  // namespace morula

BENCHMARK_MAIN();
