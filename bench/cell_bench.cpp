// What the cell itself costs, without HTTP and without a disk: an instance over a store in memory
// that answers at once, asked through its handler by clients that are fibers. Prints, for appends
// of 400 B and for reads of a small stream: requests a second that one thread's CPU is enough for,
// and per request that CPU, the CPU of the threads that flush and compact beside it, heap
// allocations, bytes allocated, bytes put into the store and store requests.
//
//     bench_cell [SECONDS]
#include <fmt/format.h>
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "bench/counting_new.hpp"
#include "bench/memory_store.hpp"
#include "bench/quiet_env.hpp"
#include "core/cell/instance.hpp"
#include "core/rt/env.hpp"
#include "core/rt/random.hpp"
#include "prod/loop.hpp"
#include "prod/thread_compute.hpp"

namespace morula {
namespace {

constexpr size_t kStreams = 1000;
constexpr size_t kRecordBytes = 400;
constexpr size_t kRecordsToRead = 10;
// What the memory holds bounds a run.
constexpr uint64_t kAppendsMax = 2'000'000;

struct Cell {
  Loop loop;
  NoNetwork network;
  MemoryStore store;
  Random random{1};
  ThreadCompute compute{loop, 1};
  NoPlatform platform;
  NoTrace trace;
  Env env{loop.domain(), loop, network, store, random, compute, platform, trace};
};

HttpRequest request_to(std::string method, const std::string& stream, std::string body) {
  HttpRequest request;
  request.method = std::move(method);
  request.target = "/v1/stream/" + stream;
  request.headers.add("Host", "127.0.0.1:4437");
  request.headers.add("Content-Type", "application/octet-stream");
  request.headers.add("Content-Length", std::to_string(body.size()));
  request.body = std::move(body);
  return request;
}

/// `whose`: RUSAGE_THREAD or RUSAGE_SELF.
uint64_t cpu_ns(int whose) {
  rusage usage{};
  ::getrusage(whose, &usage);
  const auto ns = [](const timeval& time) {
    return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 +
           static_cast<uint64_t>(time.tv_usec) * 1000;
  };
  return ns(usage.ru_utime) + ns(usage.ru_stime);
}

void expect(const HttpResponse& response) {
  if (response.status < 300) return;
  std::fprintf(stderr, "bench_cell: %d %s\n", response.status, response.body.c_str());
  std::exit(1);
}

/// `clients` fibers, each with one request under way, until the time or the count is over.
void measure(Cell& cell, const char* what, size_t clients, double seconds,
             const std::vector<HttpRequest>& requests) {
  uint64_t done = 0;
  const Time end = cell.loop.now() + std::chrono::nanoseconds(static_cast<int64_t>(seconds * 1e9));
  const auto requests_before = cell.store.requests;
  const uint64_t put_before = cell.store.put_bytes;
  const uint64_t allocations_before = allocations;
  const uint64_t bytes_before = allocated_bytes;
  const uint64_t cpu_before = cpu_ns(RUSAGE_THREAD);
  const uint64_t all_before = cpu_ns(RUSAGE_SELF);
  with_scope(cell.loop.domain(), [&](Scope& scope) {
    for (size_t client = 0; client < clients; ++client) {
      scope.spawn("client", [&, at = client * 7919]() mutable {
        while (done < kAppendsMax && ((done & 63) != 0 || cell.loop.now() < end)) {
          expect(cell.network.handler(requests[at++ % requests.size()]));
          ++done;
        }
      });
    }
    scope.join();
  });
  const auto count = static_cast<double>(done);
  const double ns = static_cast<double>(cpu_ns(RUSAGE_THREAD) - cpu_before) / count;
  const double all_ns = static_cast<double>(cpu_ns(RUSAGE_SELF) - all_before) / count;
  uint64_t log_puts = cell.store.requests[0] - requests_before[0];
  uint64_t others = 0;
  for (size_t i = 1; i < kPurposes; ++i) {
    others += cell.store.requests[i] - requests_before[i];
  }
  fmt::print(
      "{:<8} {:>4} {:>11.0f} {:>7.0f} {:>7.0f} {:>9.2f} {:>9.0f} {:>9.0f} {:>9.4f} {:>9.4f}\n",
      what, clients, 1e9 / ns, ns, all_ns - ns,
      static_cast<double>(allocations - allocations_before) / count,
      static_cast<double>(allocated_bytes - bytes_before) / count,
      static_cast<double>(cell.store.put_bytes - put_before) / count,
      static_cast<double>(log_puts) / count, static_cast<double>(others) / count);
  std::fflush(stdout);
}

void measure_all(Cell& cell, double seconds) {
  std::vector<HttpRequest> appends;
  std::vector<HttpRequest> reads;
  for (size_t i = 0; i < kStreams; ++i) {
    const std::string stream = fmt::format("load-{}", i);
    expect(cell.network.handler(request_to("PUT", stream, "")));
    appends.push_back(request_to("POST", stream, std::string(kRecordBytes, 'x')));
  }
  expect(cell.network.handler(request_to("PUT", "small", "")));
  for (size_t i = 0; i < kRecordsToRead; ++i) {
    expect(cell.network.handler(request_to("POST", "small", std::string(kRecordBytes, 'x'))));
  }
  reads.push_back(request_to("GET", "small?offset=-1", ""));
  fmt::print("{:<8} {:>4} {:>11} {:>7} {:>7} {:>9} {:>9} {:>9} {:>9} {:>9}\n", "", "of",
             "per s, core", "CPU ns", "beside", "allocs", "alloc B", "put B", "log puts", "others");
  measure(cell, "read", 64, seconds, reads);
  for (const size_t clients : {1, 64, 256}) measure(cell, "append", clients, seconds, appends);
  // By now a flush has written it into tables.
  measure(cell, "read old", 64, seconds, reads);
}

int run(double seconds) {
  Cell cell;
  int code = 1;
  cell.loop.run_fiber("bench", [&] {
    InstanceConfig config;
    config.name = "bench";
    MemoryBudget memory(MemoryShares{});
    Instance instance(cell.env, config, memory);
    with_scope(cell.loop.domain(), [&](Scope& scope) {
      scope.spawn("instance", [&] { (void)instance.run(); });
      while (!instance.ready()) cell.loop.sleep(std::chrono::milliseconds(1));
      measure_all(cell, seconds);
      code = 0;
      instance.request_stop();
      scope.join();
    });
  });
  return code;
}

}  // namespace
}  // namespace morula

int main(int argc, char** argv) {
  return morula::run(argc > 1 ? std::atof(argv[1]) : 2);
}
