// `morula-load`: puts load on a server of durable streams, and tells what it cost.
#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <cstdio>

#include "bench/load/idle_run.hpp"
#include "bench/load/report.hpp"

namespace morula::load {
namespace {

constexpr int kUsageError = 2;

constexpr const char* kFooter = R"(
  morula-load --url http://127.0.0.1:4437 --connections 64 --streams 1000
  morula-load --url http://127.0.0.1:4437 --streams 1 --fill 100 --read-share 1
  morula-load --url http://127.0.0.1:4437 --rate 5000 --json
  morula-load --url http://127.0.0.1:4437 --connections 64 --depth 8 --create
  morula-load --url redis://127.0.0.1:6379 --connections 64 --streams 1000
  morula-load --url http://127.0.0.1:4437 --idle 5000

Streams are created before the clock starts. Latencies are in microseconds. With
--rate, a request's latency counts from the moment it was due, not from when a
connection was free to send it. Exit codes: 0 every answer was a success, 1 some
were not or the server was gone, 2 wrong usage.)";

std::atomic<bool> stop_requested{false};

struct Options {
  std::string url = "http://127.0.0.1:4437";
  std::string protocol;
  Workload workload;
  RunConfig run;
  double warm_up_seconds = 1;
  double duration_seconds = 5;
  size_t fill = 0;
  size_t idle = 0;
  bool json = false;
};

void add_options(CLI::App& app, Options& options) {
  Workload& workload = options.workload;
  RunConfig& run = options.run;
  app.add_option("--url", options.url, "The server")->capture_default_str();
  app.add_option("--protocol", options.protocol, "What it speaks; by default as the URL says")
      ->check(CLI::IsMember({"morula", "durable-streams", "redis", "nats"}));
  app.add_option("--connections", workload.connections, "Kept open during the run")
      ->check(CLI::Range(1, 50000))
      ->capture_default_str();
  app.add_option("--streams", workload.streams, "Drawn at random for each request")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_option("--record-bytes", workload.record_bytes, "Of each append")
      ->check(CLI::Range(1, 4 << 20))
      ->capture_default_str();
  app.add_option("--read-share", run.read_share, "Part of the requests that read from the start")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  app.add_flag("--create", options.workload.creates,
               "Each request that is no read creates a stream with one record");
  app.add_option("--fill", options.fill, "Records put into each stream before the run");
  app.add_option("--duration", options.duration_seconds, "Seconds that are measured")
      ->check(CLI::Range(0.01, 86400.0))
      ->capture_default_str();
  app.add_option("--warm-up", options.warm_up_seconds, "Seconds before these")
      ->check(CLI::Range(0.0, 3600.0))
      ->capture_default_str();
  app.add_option("--rate", run.rate, "Requests a second, however fast the answers are (open loop)")
      ->check(CLI::Range(0.0, 1e7));
  app.add_option("--depth", run.depth, "Requests under way on one connection")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  app.add_flag("--producers", workload.producers, "Idempotent appends: each connection a producer");
  app.add_option("--idle", options.idle, "Only open so many connections, and tell their memory")
      ->check(CLI::Range(1, 50000));
  app.add_option("--server-pid", run.server_pid,
                 "For its CPU and memory; by default whoever listens on that port here");
  app.add_flag("--json", options.json, "One line of JSON");
}

void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

std::unique_ptr<Protocol> protocol_of(const Target& target, const Workload& workload) {
  switch (target.dialect) {
    case Dialect::kRedis:
      return redis_protocol(workload);
    case Dialect::kNats:
      return nats_protocol(workload);
    case Dialect::kMorula:
    case Dialect::kDurableStreams:
      break;
  }
  return http_protocol(workload, target.host_and_port());
}

std::string system_of(const Target& target) {
  switch (target.dialect) {
    case Dialect::kMorula:
      return "morula";
    case Dialect::kDurableStreams:
      return "durable-streams";
    case Dialect::kRedis:
      return "redis";
    case Dialect::kNats:
      return "nats";
  }
  return {};
}

int fail_with(const Error& error) {
  std::fprintf(stderr, "morula-load: %s\n", error.message.c_str());
  return 1;
}

Result<int> idle(const Options& options, const Target& target, Protocol& protocol, LoadRun& run) {
  MORULA_TRY(run.connect());
  MORULA_TRY(run.prepare(Operation::kCreate, protocol.creations()));
  auto outcome = run_idle(target, protocol, options.idle, options.run.server_pid, stop_requested);
  if (!outcome) return fail(outcome.error());
  const char* form =
      options.json ? R"({{"system":"{}","idle_connections":{},"bytes_per_connection":{:.0f}}})"
                     "\n"
                   : "{}: {} idle connections, {:.0f} bytes each of the server's memory\n";
  fmt::print(fmt::runtime(form), system_of(target), outcome->connections,
             outcome->bytes_per_connection());
  return 0;
}

Result<int> load(const Options& options, const Target& target, Protocol& protocol, LoadRun& run) {
  MORULA_TRY(run.connect());
  MORULA_TRY(run.prepare(Operation::kCreate, protocol.creations()));
  MORULA_TRY(run.prepare(Operation::kFill, options.fill * options.workload.streams));
  auto outcome = run.measure();
  if (!outcome) return fail(outcome.error());
  const ReportContext context{system_of(target), options.workload, options.run};
  const std::string report =
      options.json ? json_report(context, *outcome) : text_report(context, *outcome);
  fmt::print("{}", report);
  const bool good = outcome->first_failure.empty() && outcome->unanswered == 0;
  return outcome->interrupted || good ? 0 : 1;
}

int start(Options& options) {
  auto target = parse_target(options.url, options.protocol);
  if (!target) return fail_with(target.error());
  if (target->dialect == Dialect::kNats && options.run.read_share > 0) {
    return fail_with({ErrorCode::kInvalid, "--read-share: reads of NATS are not supported"});
  }
  const bool http = target->dialect != Dialect::kNats && target->dialect != Dialect::kRedis;
  if (options.workload.creates && (!http || options.workload.producers)) {
    return fail_with({ErrorCode::kInvalid, "--create: only over HTTP, and without --producers"});
  }
  if (options.run.server_pid == 0) {
    options.run.server_pid = listener_of(target->port).value_or(0);
  }
  options.run.warm_up_ns = static_cast<int64_t>(options.warm_up_seconds * 1e9);
  options.run.duration_ns = static_cast<int64_t>(options.duration_seconds * 1e9);
  options.workload.prefix = target->prefix;
  options.workload.nonce = fmt::format("{:x}-{:x}", ::getpid(), monotonic_ns());
  raise_descriptor_limit();
  const auto protocol = protocol_of(*target, options.workload);
  LoadRun run(*target, *protocol, options.workload, options.run, stop_requested);
  const auto code = options.idle > 0 ? idle(options, *target, *protocol, run)
                                     : load(options, *target, *protocol, run);
  if (!code) return fail_with(code.error());
  return *code;
}

void on_signal(int signal) {
  if (stop_requested.exchange(true)) ::_exit(128 + signal);
}

}  // namespace
}  // namespace morula::load

// NOLINTNEXTLINE(bugprone-exception-escape): the runtime says what it was, and it is our bug
int main(int argc, char** argv) {
  using namespace morula::load;
  Options options;
  CLI::App app("Puts load on a server of durable streams, and tells what it cost.", "morula-load");
  app.footer(kFooter);
  add_options(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsageError;
  }
  struct sigaction action {};
  action.sa_handler = on_signal;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  return start(options);
}
