#include "prod/serve.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "core/base/check.hpp"
#include "core/base/ids.hpp"
#include "core/cell/instance.hpp"
#include "core/rt/random.hpp"
#include "core/rt/sync.hpp"
#include "prod/descriptor_plan.hpp"
#include "prod/disk_cache/disk_cache.hpp"
#include "prod/freed_memory.hpp"
#include "prod/http/curl_client.hpp"
#include "prod/http/http_network.hpp"
#include "prod/linux_platform.hpp"
#include "prod/log_trace.hpp"
#include "prod/memory_plan.hpp"
#include "prod/metrics/metering.hpp"
#include "prod/open_store.hpp"
#include "prod/serve_address.hpp"
#include "prod/thread_compute.hpp"
#include "prod/version.hpp"

namespace morula {
namespace {

constexpr Duration kRestartPause = std::chrono::milliseconds(200);
constexpr Duration kRestartPauseMax = std::chrono::seconds(5);
constexpr Duration kResidentPause = std::chrono::milliseconds(500);
constexpr Duration kReadyPoll = std::chrono::milliseconds(20);
// Request line, JSON brackets and other things that go with an append.
constexpr uint64_t kBodySlack = 64 * kKiB;
// Rows and keys that go with an append's body into the log.
constexpr uint64_t kRecordSlack = 64 * kKiB;

int fail_with(const std::string& message) {
  std::fprintf(stderr, "morula: %s\n", message.c_str());
  return 1;
}

uint64_t random_seed() {
  uint64_t seed = 0;
  MORULA_CHECK(::getrandom(&seed, sizeof(seed), 0) == sizeof(seed));
  return seed;
}

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof(name) - 1) == 0 ? name : "";
}

/// As many descriptors as this user may have; returns how many that is.
size_t raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1024;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  ::getrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur;
}

/// One process that serves: what an Env needs, and the instance of the moment.
class Host {
 public:
  Host(Loop& loop, LogTrace& trace, const Env& env, const InstanceConfig& config,
       MemoryBudget& memory)
      : loop_(loop), trace_(trace), env_(env), config_(config), memory_(memory) {}

  /// From outside fibers.
  void request_stop() {
    stop_.set();
    if (instance_ != nullptr) instance_->request_stop();
  }

  /// The one that runs now, or null.
  const Instance* instance() const { return instance_; }

  /// Instances, each a new incarnation, until one is told to stop. Returns the exit code.
  int run(const std::function<void()>& announce) {
    Duration pause = kRestartPause;
    for (;;) {
      const Time begun = loop_.now();
      const auto ended = run_instance(announce);
      if (!ended) {
        trace_.log(Severity::kError, "cannot_serve", {{"why", ended.error().message}});
        return fail_with(ended.error().message);
      }
      if (*ended == Instance::Ended::kStopped || stop_.is_set()) return 0;
      trace_.log(Severity::kWarning, "starting_again",
                 {{"why", *ended == Instance::Ended::kFenced ? "log fenced" : "lease lost"}});
      // Not in a tight circle with whoever fences us.
      pause = loop_.now() - begun > kRestartPauseMax ? kRestartPause
                                                     : std::min(pause * 2, kRestartPauseMax);
      if (stop_.wait_until(loop_, loop_.now() + pause)) return 0;
    }
  }

 private:
  Result<Instance::Ended> run_instance(const std::function<void()>& announce) {
    Instance instance(env_, config_, memory_);
    struct Current {
      Host& host;
      ~Current() { host.instance_ = nullptr; }
    } const current{*this};
    instance_ = &instance;
    if (stop_.is_set()) instance.request_stop();
    return with_scope(loop_.domain(), [&](Scope& scope) {
      scope.spawn("resident_memory", [&] { watch_memory(); });
      scope.spawn("announce", [&] {
        while (!instance.ready()) loop_.sleep(kReadyPoll);
        announce();
      });
      return instance.run();
    });
  }

  void watch_memory() {
    for (bool was_over = false;; loop_.sleep(kResidentPause)) {
      memory_.note_resident(resident_bytes());
      const bool over = memory_.over_resident();
      if (over != was_over) {
        trace_.log(Severity::kWarning, over ? "over_memory" : "within_memory",
                   {{"resident", memory_.resident()},
                    {"accounted", memory_.memory.used()},
                    {"limit", memory_.memory.limit()}});
      }
      was_over = over;
    }
  }

  Loop& loop_;
  LogTrace& trace_;
  const Env env_;
  const InstanceConfig config_;
  MemoryBudget& memory_;
  Instance* instance_ = nullptr;
  Event stop_;
};

void print_welcome(const std::string& url, const std::string& store, const std::string& name) {
  static bool printed = false;
  if (std::exchange(printed, true)) return;
  std::printf("morula serves %s from %s as %s\n", url.c_str(), store.c_str(), name.c_str());
  if (::isatty(STDOUT_FILENO) != 0) {
    std::printf(
        "\n  curl -X PUT  %s/v1/stream/hello -H 'Content-Type: text/plain'\n"
        "  curl -X POST %s/v1/stream/hello -H 'Content-Type: text/plain' -d 'first words'\n"
        "  curl         %s/v1/stream/hello\n\n",
        url.c_str(), url.c_str(), url.c_str());
  }
  std::fflush(stdout);
}

void handle_signals(Loop& loop, LogTrace& trace, Host& host, Metering& metering) {
  loop.on_signals({SIGTERM, SIGINT, SIGUSR1}, [&, count = 0](int signal) mutable {
    if (signal == SIGUSR1) return metering.print_profile();
    if (++count > 1) ::_exit(128 + signal);
    trace.log(Severity::kInfo, "stop_requested",
              {{"signal", signal == SIGTERM ? "SIGTERM" : "SIGINT"}});
    host.request_stop();
  });
}

Result<ListenAddress> listen_address_of(const ServeOptions& options) {
  auto address = parse_listen_address(options.listen);
  if (address && !address->is_loopback()) {
    return fail(ErrorCode::kInvalid,
                fmt::format("--listen {}: this version has no tokens, so whoever reaches it may "
                            "read and write everything; listen on 127.0.0.1 or [::1], and put a "
                            "proxy that authenticates in front",
                            options.listen));
  }
  return address;
}

/// A closed connection and a file at its size limit are errors of a call, not the end.
void ignore_signals() {
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);
}

/// What was left open goes by the store, by other options, and by what the process may have.
/// Returns how it calls others.
CurlClientConfig settle(ServeOptions& options) {
  CurlClientConfig calls;
  calls.bodies_max = plan_descriptors(options.http, raise_descriptor_limit());
  // The others' servers are taken to have the same options.
  calls.connection_idle_max = std::min(calls.connection_idle_max, options.http.idle_timeout / 2);
  const StoreDefaults defaults = defaults_of(options.store.location);
  options.instance.log.puts_per_second = options.puts_per_second.value_or(defaults.puts_per_second);
  options.instance.shard.held_log_objects_max =
      options.flush_objects.value_or(defaults.flush_objects);
  const uint64_t append = options.instance.stream.append_bytes_max;
  options.http.limits.body_bytes_max = append + kBodySlack;
  // JSON messages of 128 bytes take one more each for their length.
  options.instance.log.record_bytes_max = append + append / 128 + kRecordSlack;
  return calls;
}

/// Null where the options ask for none.
Result<std::unique_ptr<DiskCache>> open_disk_cache(Loop& loop, Trace& trace,
                                                   const std::string& option) {
  if (option.empty()) return nullptr;
  const auto place = DiskCachePlace::parse(option);
  MORULA_TRY(place);
  return DiskCache::open(loop, trace, *place);
}

}  // namespace

int serve(const ServeOptions& given) {
  return_freed_memory();
  ServeOptions options = given;
  ignore_signals();
  auto address = listen_address_of(options);
  if (!address) return fail_with(address.error().message);
  if (!options.name.empty() && !is_valid_instance_name(options.name)) {
    return fail_with(fmt::format("--name \"{}\": write 1 to 63 of a-z, 0-9 and -", options.name));
  }
  if (!options.advertise.empty()) {
    const auto valid = check_instance_url("--advertise", options.advertise);
    if (!valid) return fail_with(valid.error().message);
  }

  const CurlClientConfig calls = settle(options);
  const auto shares = plan_memory(options, memory_of_container(""));
  if (!shares) return fail_with(shares.error().message);
  MemoryBudget memory(*shares);

  Loop loop;
  LogTrace trace(options.log_level, options.log_format);
  const auto opened = open_store(loop, trace, options.store, StoreAccess::kServe);
  if (!opened) return fail_with(opened.error().message);

  const auto disk_cache = open_disk_cache(loop, trace, options.disk_cache);
  if (!disk_cache) return fail_with(disk_cache.error().message);
  options.instance.second_tier = disk_cache->get();

  HttpServer server(loop, trace, options.http, memory);
  if (const auto listening = server.listen(address->host, address->port); !listening) {
    return fail_with(listening.error().message);
  }
  address->port = server.port();
  if (options.advertise.empty()) options.advertise = address->url();
  if (options.name.empty()) options.name = default_instance_name(host_name(), address->port);
  options.instance.name = options.name;

  const Host* running = nullptr;
  Metering metering(
      trace, memory, [&] { return running == nullptr ? nullptr : running->instance(); },
      options.profile);
  if (*disk_cache) metering.show(**disk_cache);
  options.instance.log.profile = metering.log_profile();
  ObservedStore store(*opened->store, loop, metering.store_observers());
  CurlClient client(loop, calls);
  HttpNetwork http(server, client, options.advertise);
  MeteredNetwork network(http, loop, metering.requests(), metering.page());
  ThreadCompute compute(loop, std::max<uint64_t>(options.compute_threads, 1));
  Random random(random_seed());
  LinuxPlatform platform;
  const Env env{loop.domain(), loop, network, store, random, compute, platform, trace};
  Host host(loop, trace, env, options.instance, memory);
  running = &host;
  handle_signals(loop, trace, host, metering);
  trace.log(Severity::kInfo, "starting",
            {{"version", kVersion},
             {"name", options.name},
             {"listen", address->url()},
             {"memory_mb", shares->limit / kMiB}});

  int exit_code = 1;
  loop.run_fiber("serve", [&] {
    exit_code = host.run([&] { print_welcome(address->url(), opened->location, options.name); });
  });
  // From here on nobody reads signals: a disk that hangs must not make the process immortal.
  ::signal(SIGTERM, SIG_DFL);
  ::signal(SIGINT, SIG_DFL);
  metering.print_profile();
  metering.store().report(trace);
  trace.log(Severity::kInfo, "stopped", {{"name", options.name}});
  return exit_code;
}

}  // namespace morula
