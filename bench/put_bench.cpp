// What durability costs on a disk: `bench_put DIR` prints, in microseconds, an fdatasync after 512
// B at a file's end, and the directory store's own put of an object as large as a log batch with
// one append of 400 B. The second bounds the append of a single client from below. Of a bucket it
// prints the put alone, with a pause before each: what a quiet cell's append can be held against.
//
//     bench_put DIR|s3://BUCKET/PREFIX [SECONDS [PAUSE_MS]] [--json]
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "bench/load/latency_histogram.hpp"
#include "bench/load/load_run.hpp"
#include "prod/directory/directory_files.hpp"
#include "prod/log_trace.hpp"
#include "prod/open_store.hpp"
#include "prod/posix_file.hpp"

namespace morula {
namespace {

// A batch's head and the rows of one append of 400 B.
constexpr size_t kObjectBytes = 600;
constexpr size_t kRecordBytes = 512;
constexpr size_t kRemoveMax = 1000;  // keys at once
constexpr uint64_t kTimesMax = 1'000'000;

template <class Work>
load::LatencyHistogram repeat(double seconds, Work work) {
  load::LatencyHistogram latencies;
  const int64_t begin = load::monotonic_ns();
  int64_t now = begin;
  for (uint64_t i = 0; i < kTimesMax && static_cast<double>(now - begin) < seconds * 1e9; ++i) {
    work(i);
    const int64_t after = load::monotonic_ns();
    latencies.add(after - now);
    now = after;
  }
  return latencies;
}

[[noreturn]] void die(const std::string& why) {
  std::fprintf(stderr, "bench_put: %s\n", why.c_str());
  std::exit(1);
}

load::LatencyHistogram syncs(const std::string& directory, double seconds) {
  const std::string path = directory + "/appended";
  const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640));
  if (!file) die("cannot write to " + directory);
  const std::string record(kRecordBytes, 'x');
  return repeat(seconds, [&](uint64_t) {
    if (write_all(file.get(), record) != 0 || ::fdatasync(file.get()) != 0) die("cannot sync");
  });
}

load::LatencyHistogram puts(const std::string& directory, double seconds) {
  auto files = DirectoryFiles::open(directory + "/store", {});
  if (!files) die(files.error().message);
  const std::string body(kObjectBytes, 'x');
  return repeat(seconds, [&](uint64_t i) {
    const auto put = (*files)->put(fmt::format("log/a/{:020}", i), body, Precondition::if_absent());
    if (!put) die(put.error().message);
  });
}

load::LatencyHistogram bucket_puts(const std::string& location, double seconds, Duration pause) {
  Loop loop;
  LogTrace trace(Severity::kWarning, LogFormat::kLogfmt);
  StoreOptions options;
  options.location = location;
  const auto opened = open_store(loop, trace, options, StoreAccess::kServe);
  if (!opened) die(opened.error().message);
  Store& store = *opened->store;
  const Blob body = make_blob(std::string(kObjectBytes, 'x'));
  std::vector<std::string> keys;
  load::LatencyHistogram latencies;
  loop.run_fiber("put", [&] {
    const Time end = loop.now() + Duration(static_cast<int64_t>(seconds * 1e9));
    while (loop.now() < end) {
      loop.sleep(pause);
      keys.push_back(fmt::format("log/a/{:020}", keys.size()));
      const int64_t begin = load::monotonic_ns();
      const auto put = store.put(keys.back(), body, Precondition::if_absent(), {});
      if (!put) die(put.error().message);
      latencies.add(load::monotonic_ns() - begin);
    }
    for (size_t i = 0; i < keys.size(); i += kRemoveMax) {
      const auto part = std::span(keys).subspan(i, std::min(kRemoveMax, keys.size() - i));
      if (const auto removed = store.remove_many(part, {}); !removed) die(removed.error().message);
    }
  });
  return latencies;
}

void print(const char* name, const load::LatencyHistogram& latencies, bool json) {
  fmt::print(fmt::runtime(json ? R"({{"name":"{}","count":{},"p50":{:.1f},"p99":{:.1f}}})"
                                 "\n"
                               : "{:<10} {:>7} times  p50 {:.0f} us  p99 {:.0f} us\n"),
             name, latencies.count(), static_cast<double>(latencies.percentile(0.5)) / 1000,
             static_cast<double>(latencies.percentile(0.99)) / 1000);
}

}  // namespace
}  // namespace morula

int main(int argc, char** argv) {
  using namespace morula;
  const bool json = argc > 1 && std::string(argv[argc - 1]) == "--json";
  const int positional = argc - (json ? 1 : 0);
  if (positional < 2) {
    std::fprintf(stderr, "usage: bench_put DIR|s3://BUCKET/PREFIX [SECONDS [PAUSE_MS]] [--json]\n");
    return 2;
  }
  const std::string directory = fmt::format("{}/bench-put-{}", argv[1], ::getpid());
  const double seconds = positional > 2 ? std::atof(argv[2]) : 3;
  if (is_s3_location(directory)) {
    const auto pause = std::chrono::milliseconds(positional > 3 ? std::atoi(argv[3]) : 0);
    print("put", bucket_puts(directory, seconds, pause), json);
    return 0;
  }
  std::filesystem::create_directories(directory);
  print("fdatasync", syncs(directory, seconds), json);
  print("put", puts(directory, seconds), json);
  std::filesystem::remove_all(directory);
  return 0;
}
