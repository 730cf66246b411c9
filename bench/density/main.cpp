// `bench_density`: how many cold streams one process carries, and what touching one costs.
#include <fmt/format.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>

#include "bench/density/report.hpp"
#include "prod/freed_memory.hpp"

namespace morula::density {
namespace {

constexpr int kUsageError = 2;

constexpr const char* kFooter = R"(
  bench_density                                   200,000 streams, store in memory
  bench_density --directory /var/tmp/d --streams 1000000
  bench_density --directory /var/tmp/d --streams 10000000 --touches 84000 --rate 1400
  bench_density --tenant-each --json

An instance of the cell in this process, asked through its HTTP handler, without
sockets. It creates the streams, lets compactions end, touches streams drawn at
random (one append, then one read from the start), is killed with what is not in
tables yet, and is started again. A cold touch should cost one meta read and one
data read. With the store in memory, its bytes count as resident. A directory
must be new or empty, and is left behind.)";

struct Options {
  RunConfig run;
  uint64_t cache_mib = 64;
  bool json = false;
};

void add_options(CLI::App& app, Options& options) {
  RunConfig& run = options.run;
  Workload& workload = run.workload;
  app.add_option("--streams", workload.streams, "Created, each with one record")
      ->check(CLI::Range(1, 1'000'000'000))
      ->capture_default_str();
  app.add_option("--record-bytes", workload.record_bytes, "Of each record")
      ->check(CLI::Range(2, 1 << 20))
      ->capture_default_str();
  app.add_flag("--tenant-each", workload.tenant_each, "Each stream has a tenant of its own");
  app.add_flag_callback(
      "--random-records", [&workload] { workload.records = Records::kRandom; },
      "Records that can't be compressed; else JSON events");
  app.add_option("--directory", run.directory, "Where the store lies; by default in memory");
  app.add_option("--cache-mib", options.cache_mib, "Block cache")->capture_default_str();
  app.add_option("--disk-cache", run.disk_cache, "DIR:SIZE, the block cache's second tier");
  app.add_option("--clients", run.clients, "Requests under way at once")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  app.add_option("--touches", run.touches, "One append and one read each")->capture_default_str();
  app.add_option("--rate", run.touch_rate,
                 "Touches a second, however fast the answers are (open loop); 0: as they come")
      ->capture_default_str();
  app.add_option("--settle", run.settle_seconds, "Wait at most so long for compactions to end")
      ->capture_default_str();
  app.add_flag("--json", options.json, "One line of JSON");
}

}  // namespace
}  // namespace morula::density

// NOLINTNEXTLINE(bugprone-exception-escape): the runtime says what it was, and it is our bug
int main(int argc, char** argv) {
  using namespace morula;
  using namespace morula::density;
  return_freed_memory();
  Options options;
  CLI::App app("How many cold streams one process carries, and what touching one costs.",
               "bench_density");
  app.footer(kFooter);
  add_options(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsageError;
  }
  RunConfig& config = options.run;
  config.instance.name = "bench";
  config.instance.log.puts_at_once = 2;
  config.instance.block_cache_bytes = options.cache_mib * kMiB;
  // Else a long run would keep all that it ever merged.
  config.instance.collect_interval = std::chrono::seconds(20);
  config.instance.trim_interval = std::chrono::seconds(5);
  DensityRun run(config);
  const Outcome outcome = run.run();
  fmt::print("{}", options.json ? json_report(config, outcome) : text_report(config, outcome));
  return 0;
}
