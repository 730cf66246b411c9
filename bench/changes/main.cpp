// bench_changes: what splits, merges, moves and a takeover cost, in a simulated cell of 8 instances
// and 64 shards on an object store (PUT p50 25 ms, p99 120 ms; GET p50 15 ms, p99 80 ms), under
// 2,000 appends a second. Times are simulated ones: they say what waits for what, not how fast this
// machine is.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "bench/changes/simulated_cell.hpp"
#include "core/rt/clock.hpp"
#include "core/rt/concurrently.hpp"

namespace {

using namespace morula;
using bench::SimulatedCell;
using bench::Times;
using std::chrono::seconds;

constexpr uint64_t kStreams = 2000;
constexpr uint64_t kAppends = 2000;

void print(const char* what, const Times& times) {
  std::printf("%-34s %8zu   p50 %6.1f   p99 %6.1f   p99.9 %6.1f   max %6.1f ms\n", what,
              times.count(), times.at(500), times.at(990), times.at(999), times.at(1000));
}

std::string prefix_json(Prefix prefix) {
  return R"({"prefix":")" + prefix.text() + R"("})";
}

void move_to_all(SimulatedCell& cell, uint32_t instances) {
  const Topology before = cell.topology();
  cell.as_client([&](const Env& env) {
    (void)for_each_concurrently(before.shards.size(), 4, [&](size_t i) -> Result<> {
      const std::string to = "i" + std::to_string(i % instances + 1);
      if (before.shards[i].owner.name == to) return {};
      bench::ask(env, cell, "move",
                 R"({"prefix":")" + before.shards[i].prefix.text() + R"(","to":")" + to + R"("})");
      return {};
    });
  });
}

/// Splits each of the shards in turn, or merges each pair of halves.
void change_each(SimulatedCell& cell, const Topology& shards, const char* what) {
  cell.as_client([&](const Env& env) {
    for (const TopologyShard& shard : shards.shards) {
      bench::ask(env, cell, what, prefix_json(shard.prefix));
      env.clock.sleep(std::chrono::milliseconds(50));
    }
  });
}

void measure_load(uint64_t seed) {
  SimulatedCell cell(seed, {});
  cell.begin_load(kAppends, kStreams);
  Times appends[5];
  const auto phase = [&](Times& times, const std::function<void()>& body) {
    cell.measure(&times);
    body();
    cell.measure(nullptr);
    cell.world().run_for(seconds(2));
  };
  phase(appends[0], [&] { move_to_all(cell, 8); });
  phase(appends[1], [&] { cell.world().run_for(seconds(30)); });
  const Topology shards = cell.topology();
  phase(appends[2], [&] { change_each(cell, shards, "split"); });
  phase(appends[3], [&] { cell.world().run_for(seconds(30)); });
  phase(appends[4], [&] { change_each(cell, shards, "merge"); });
  print("appends while 56 shards move", appends[0]);
  print("appends, nothing changes", appends[1]);
  print("appends while 64 shards split", appends[2]);
  print("appends, 128 shards", appends[3]);
  print("appends while 64 pairs merge", appends[4]);
  print("a move's pause", cell.pauses);
  std::printf("appends that failed: %llu\n",
              static_cast<unsigned long long>(cell.failed_appends()));
}

void measure_takeover(uint64_t seed) {
  SimulatedCell cell(seed, {});
  cell.begin_load(kAppends, kStreams);
  cell.world().run_for(seconds(10));
  cell.served.clear();
  const sim::TrueTime killed = cell.world().now();
  cell.kill(0);
  cell.await("the takeover", [&] { return cell.served.size() == 64; });
  const double took = static_cast<double>((cell.world().now() - killed).count()) / 1e9;
  const LeaseConfig lease;
  const double bound = 1.17 * static_cast<double>(lease.lease.count()) / 1e9 + 2.5;
  std::printf(
      "takeover of 64 shards by 7: %.2f s after the kill (lease 12 s; aim: at most %.2f s)\n", took,
      bound);
}

void measure_requests(uint64_t seed) {
  SimulatedCell cell(seed, {.instances = 2, .first_bits = 1, .looks_often = false});
  const auto count = [&](const char* what, const std::string& body) {
    const uint64_t before = cell.world().store().sent(Purpose::kOwnership);
    cell.as_client([&](const Env& env) { bench::ask(env, cell, what, body); });
    const uint64_t after = cell.world().store().sent(Purpose::kOwnership);
    std::printf("store requests of a %-5s %llu, one of which is the operator's look\n", what,
                static_cast<unsigned long long>(after - before));
    cell.world().run_for(seconds(5));
  };
  count("split", R"({"prefix":"0"})");
  count("merge", R"({"prefix":"0"})");
  count("move", R"({"prefix":"1","to":"i2"})");
}

/// One instance with more and more shards, under the same load.
void measure_puts(uint64_t seed) {
  constexpr uint64_t kSeconds = 60;
  double first = 0;
  for (const uint8_t bits : {uint8_t{0}, uint8_t{4}, uint8_t{6}}) {
    SimulatedCell cell(seed, {.instances = 1, .first_bits = bits});
    cell.begin_load(kAppends, kStreams);
    cell.world().run_for(seconds(5));
    const sim::SimStore& store = cell.world().store();
    const uint64_t log = store.sent(Purpose::kLog);
    const uint64_t all = store.sent(sim::StoreCall::kPut);
    cell.world().run_for(seconds(kSeconds));
    const auto a_second = [](uint64_t count) { return static_cast<double>(count) / kSeconds; };
    const double log_puts = a_second(store.sent(Purpose::kLog) - log);
    if (bits == 0) first = log_puts;
    std::printf("%2u shards: %.2f log PUTs a second (%.3f times those of one), %.2f PUTs in all\n",
                1U << bits, log_puts, log_puts / first,
                a_second(store.sent(sim::StoreCall::kPut) - all));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const uint64_t seed = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1;
  measure_requests(seed);
  measure_puts(seed);
  measure_takeover(seed);
  measure_load(seed);
  return 0;
}
