#include "bench/density/density_run.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "bench/load/process_usage.hpp"
#include "core/lsm/block_cache.hpp"
#include "core/rt/random.hpp"

namespace morula::density {

namespace {

constexpr Duration kProgressInterval = std::chrono::seconds(1);
constexpr Duration kSettlePoll = std::chrono::milliseconds(500);
constexpr int kQuietPolls = 4;

double seconds_of(Duration duration) {
  return static_cast<double>(duration.count()) / 1e9;
}

uint64_t resident_bytes() {
  const auto usage = load::usage_of(::getpid());
  return usage ? usage->resident_bytes : 0;
}

}  // namespace

uint64_t StoreUse::bytes_put() const {
  uint64_t bytes = 0;
  for (const StoreMetrics::Sum& sum : by_purpose) bytes += sum.bytes_put;
  return bytes;
}

DensityRun::DensityRun(const RunConfig& config)
    : config_(config), cell_(config.directory, config.disk_cache, config.instance) {}

StoreUse DensityRun::use_since(const StoreUse& before) const {
  StoreUse use;
  for (size_t i = 0; i < kPurposes; ++i) {
    use.by_purpose[i] = cell_.counts().sum(static_cast<Purpose>(i)) - before.by_purpose[i];
  }
  return use;
}

Memory DensityRun::memory() const {
  return {resident_bytes(), cell_.instance().figures().block_cache_bytes};
}

void DensityRun::ask(const HttpRequest& request) {
  const HttpResponse response = cell_.ask(request);
  if (response.status < 300) return;
  std::fprintf(stderr, "\nbench_density: %s %s: %d %s\n", request.method.c_str(),
               request.target.c_str(), response.status, response.body.c_str());
  std::exit(1);
}

void DensityRun::show_progress(const char* what, uint64_t of) {
  const Time now = cell_.loop().now();
  if (now - shown_ < kProgressInterval) return;
  shown_ = now;
  const std::string line =
      fmt::format("{} {} of {}, {} MiB resident", what, done_, of, resident_bytes() / kMiB);
  std::fprintf(stderr, "\r%-78s", line.c_str());
}

void DensityRun::share_out(uint64_t count, const std::function<void(uint64_t n)>& work) {
  uint64_t next = 0;
  done_ = 0;
  with_scope(cell_.loop().domain(), [&](Scope& scope) {
    for (uint64_t i = 0; i < config_.clients; ++i) {
      scope.spawn("client", [&] {
        while (next < count) {
          work(next++);
          ++done_;
        }
      });
    }
    scope.join();
  });
}

void DensityRun::create_all() {
  const uint64_t streams = config_.workload.streams;
  const Time begun = cell_.loop().now();
  share_out(streams, [&](uint64_t n) {
    ask(config_.workload.create(n));
    if (n % 256 == 0) show_progress("created", streams);
  });
  outcome_.create_seconds = seconds_of(cell_.loop().now() - begun);
  outcome_.bytes_accepted = streams * config_.workload.record_bytes;
}

/// Until nothing is compacted for a while.
void DensityRun::settle() {
  const Time begun = cell_.loop().now();
  const Time give_up = begun + std::chrono::seconds(config_.settle_seconds);
  uint64_t compactions = 0;
  for (int quiet = 0; quiet < kQuietPolls && cell_.loop().now() < give_up; ++quiet) {
    cell_.loop().sleep(kSettlePoll);
    const uint64_t now =
        use().of(Purpose::kCompaction).requests + use().of(Purpose::kFlush).requests;
    if (now != compactions) quiet = 0;
    compactions = now;
    show_progress("compacting; created", config_.workload.streams);
  }
  outcome_.settle_seconds = seconds_of(cell_.loop().now() - begun);
  outcome_.created = use();
  outcome_.levels = cell_.levels();
  outcome_.at_rest = memory();
}

double DensityRun::touch(uint64_t count, uint64_t seed) {
  Random random(seed);
  const Time begun = cell_.loop().now();
  share_out(count, [&](uint64_t n) {
    const uint64_t stream = random.below(config_.workload.streams);
    Time due = cell_.loop().now();
    if (config_.touch_rate > 0) {
      const double at = static_cast<double>(n) / config_.touch_rate;
      due = begun + Duration(static_cast<int64_t>(at * 1e9));
      cell_.loop().sleep_until(due);
    }
    ask(config_.workload.append(stream, n + 1));
    ask(config_.workload.read(stream));
    outcome_.touch_latency.add((cell_.loop().now() - due).count());
    show_progress("touched", count);
  });
  return seconds_of(cell_.loop().now() - begun);
}

void DensityRun::touch_all() {
  const StoreUse before = use();
  outcome_.touches = config_.touches;
  outcome_.touch_seconds = touch(config_.touches, 20'261'130);
  outcome_.touched = use_since(before);
  if (const DiskCache* const disk = cell_.disk_cache()) outcome_.disk = disk->figures();
  outcome_.after_touches = memory();
}

Outcome DensityRun::run() {
  cell_.loop().run_fiber("density", [&] {
    cell_.serve_until_killed([&] {
      outcome_.idle = memory();
      create_all();
      settle();
      touch_all();
    });
    const StoreUse before = use();
    cell_.serve_until_killed([&] {
      outcome_.restart_seconds = seconds_of(cell_.until_serving());
      outcome_.replayed_bytes = use_since(before).of(Purpose::kOwnership).bytes_got;
      ask(config_.workload.read(0));
      // Where what is on disk should have survived.
      if (cell_.disk_cache() == nullptr) return;
      const StoreUse restarted = use();
      outcome_.touches_restarted = config_.touches / 10;
      const load::LatencyHistogram latency = outcome_.touch_latency;
      touch(outcome_.touches_restarted, 20'261'131);
      outcome_.touch_latency = latency;
      outcome_.touched_restarted = use_since(restarted);
    });
  });
  std::fprintf(stderr, "\r%-78s\r", "");
  return outcome_;
}

}  // namespace morula::density
