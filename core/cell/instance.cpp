#include "core/cell/instance.hpp"

#include "core/cell/cell_document.hpp"
#include "core/cell/instance_impl.hpp"
#include "core/fleet/collect.hpp"
#include "core/rt/trace.hpp"
#include "core/topology/trim.hpp"

namespace morula {

namespace {

// After the end of an incarnation its log's waiters are told; so long they may take to answer.
constexpr Duration kLastAnswers = std::chrono::milliseconds(200);
constexpr Duration kDrainPoll = std::chrono::milliseconds(10);

/// Requests arrive from construction to destruction.
class Serving {
 public:
  Serving(Network& network, Scope& requests, Network::Handler handler) : network_(network) {
    network_.serve(requests, std::move(handler));
  }
  ~Serving() { network_.stop_serving(); }
  Serving(const Serving&) = delete;
  Serving& operator=(const Serving&) = delete;

 private:
  Network& network_;
};

}  // namespace

void Instance::Impl::end_with(Ended how) {
  if (ending.is_set()) return;
  ended = how;
  ending.set();
  settled.set();
}

void Instance::Impl::end_with(Error error) {
  if (ending.is_set()) return;
  fatal = std::move(error);
  ending.set();
  settled.set();
}

Result<Instance::Ended> Instance::Impl::run(Scope& scope) {
  fibers = &scope;
  // Joining may have to wait for a lease of 30 s: a stop doesn't.
  with_scope(env.domain, [&](Scope& joining) {
    joining.spawn("join", [&] {
      auto joined = join();
      if (!joined && joined.error().code == ErrorCode::kLeaseLost) end_with(Ended::kLeaseLost);
      if (!joined) end_with(joined.error());
      settled.set();
    });
    settled.wait();
  });
  if (log == nullptr) return finish();
  return with_scope(env.domain, [&](Scope& requests) { return serve_until_end(requests); });
}

Result<> Instance::Impl::join() {
  if (!is_valid_instance_name(config.name)) {
    return fail(ErrorCode::kInvalid,
                "\"" + config.name + "\" is no instance name: 1 to 63 of a-z, 0-9 and -");
  }
  auto cell = open_cell(env, config.retry, self, config.log.window);
  MORULA_TRY(cell);
  MORULA_TRY(lease.join());
  config.log.window = cell->window;
  ApiConfig api_config;
  api_config.stream = config.stream;
  api_config.forward_timeout = config.forward_timeout;
  api_config.forward_body = config.forward_body;
  api = std::make_unique<Api>(env, StreamHasher(cell->hash_secret), shards, api_config, this,
                              &memtables.memory());
  log = std::make_unique<LogWriter>(env, config.log, self, *fibers);
  shards.begin(*log, lease, memtables.memory(), config.stream);
  takeover = std::make_unique<Takeover>(env, config.retry, *log);
  receiver = std::make_unique<ShardReceiver>(env, config.retry, *log, *this);
  changes = std::make_unique<ShardChanges>(env, config.retry, *log, shards, *this);
  env.trace.log(Severity::kInfo, "joined",
                {{"cell", cell->cell.text()},
                 {"incarnation", self.text()},
                 {"address", env.network.address()}});
  return {};
}

Result<Instance::Ended> Instance::Impl::serve_until_end(Scope& requests) {
  with_scope(env.domain, [&](Scope& loops) {
    {
      const Serving serving(env.network, requests,
                            [this](const HttpRequest& request) { return handle(request); });
      loops.spawn("lease", [this] { keep_lease(); });
      loops.spawn("watching", [this] { keep_watching(); });
      loops.spawn("looking", [this] { keep_looking(); });
      loops.spawn("trim", [this] { keep_trimming(); });
      loops.spawn("collect", [this] { keep_collecting(); });
      loops.spawn("fenced", [this] {
        log->fenced_event().wait();
        end_with(Ended::kFenced);
      });
      loops.spawn("lease_lost", [this] {
        lease.lost().wait();
        end_with(Ended::kLeaseLost);
      });
      ending.wait();
      log_ending();
      if (is_clean()) give_all_away();
    }
    drain(requests, is_clean() ? config.stop_grace : kLastAnswers);
  });
  shards.stop_serving();
  requests.close();
  return finish();
}

void Instance::Impl::log_ending() {
  std::string_view why = "stop requested";
  if (ended == Ended::kFenced) why = "log fenced";
  if (ended == Ended::kLeaseLost) why = "lease lost";
  if (fatal) why = fatal->message;
  const bool damage = fatal && fatal->code == ErrorCode::kCorrupt;
  env.trace.log(damage ? Severity::kError : Severity::kInfo, "ending",
                {{"incarnation", self.text()}, {"why", why}});
}

// The order of a clean stop: no new requests, answers to those under way, the own fence as the
// log's last object, and only then `stopped` (OWNERSHIP R8, Reads).
Result<Instance::Ended> Instance::Impl::finish() {
  if (fatal) return fail(*fatal);
  if (ended != Ended::kStopped || log == nullptr) return ended;
  if (auto stopped = log->stop(); !stopped) {
    if (stopped.error().code == ErrorCode::kFenced) return Ended::kFenced;
    return fail(stopped.error());
  }
  MORULA_TRY(lease.write_stopped(log->acknowledged()));
  return Ended::kStopped;
}

void Instance::Impl::drain(Scope& requests, Duration grace) {
  const Time until = env.clock.now() + grace;
  while (requests.live() > 0 && env.clock.now() < until) env.clock.sleep(kDrainPoll);
}

void Instance::Impl::keep_lease() {
  while (true) {
    const Time began = env.clock.now();
    const bool as_alone = alone;
    auto renewed = lease.renew(as_alone, log->acknowledged(), table_numbers.floor());
    if (renewed && !*renewed) return;
    if (!renewed) {
      env.trace.log(Severity::kWarning, "lease_not_renewed", {{"error", renewed.error().message}});
    }
    const Time next =
        began + (as_alone && renewed ? config.lease.heartbeat_alone : config.lease.heartbeat);
    // The other length of lease counts at once.
    while (alone == as_alone && alone_changed.wait_until(env.clock, next)) {
    }
  }
}

// Apart from the renewals: a listing that hangs or is put off must not cost the lease. What it
// would tell may be late without harm, because everybody goes by the length in the document.
void Instance::Impl::keep_watching() {
  while (true) {
    const Time began = env.clock.now();
    if (auto others = membership.look_whether_alone()) {
      if (alone != *others) alone_changed.wake_all();
      alone = *others;
    } else {
      env.trace.log(Severity::kWarning, "members_unread", {{"error", others.error().message}});
    }
    env.clock.sleep_until(began + (alone ? config.lease.heartbeat_alone : config.lease.heartbeat));
  }
}

void Instance::Impl::keep_looking() {
  while (true) {
    const Time began = env.clock.now();
    shards.look_begins();
    if (auto seen = look(); !seen) {
      const Error& error = seen.error();
      env.trace.log(Severity::kWarning, "look_failed", {{"error", error.message}});
      if (error.code == ErrorCode::kCorrupt) return end_with(error);
    }
    shards.looked();
    const bool quiet = shards.owns_all();
    shards.wait_for_look(began +
                         (quiet ? config.lease.heartbeat_alone : config.lease.watch_interval));
    env.clock.sleep_until(began + config.retry.backoff_min);  // however many ask
  }
}

void Instance::Impl::keep_trimming() {
  Trimmer trimmer(env, config.retry, *log);
  while (true) {
    env.clock.sleep(config.trim_interval);
    const auto trimmed = trimmer.run(receiver->has_promised());
    if (trimmed && *trimmed) receiver->trimmed(**trimmed);
    if (!trimmed) {
      env.trace.log(Severity::kWarning, "trim_failed", {{"error", trimmed.error().message}});
    }
  }
}

void Instance::Impl::keep_collecting() {
  Collector collector(env, config.retry, self, config.log.window);
  std::optional<std::vector<Version>> clean;  // what has been collected from, down to nothing
  while (true) {
    env.clock.sleep(config.collect_interval);
    auto now = shards.all_versions();
    if (now && now == clean) continue;  // an idle cell has no garbage
    const auto collected = collector.Collect();
    if (!collected) {
      env.trace.log(Severity::kWarning, "collect_failed", {{"error", collected.error().message}});
    } else if (!*collected) {
      clean.reset();  // whoever's turn it is may not have come to it before it becomes ours
    } else if ((*collected)->objects > 0) {
      env.trace.log(Severity::kInfo, "garbage_collected",
                    {{"objects", (*collected)->objects}, {"bytes", (*collected)->bytes}});
    } else {
      clean = std::move(now);
    }
  }
}

Instance::Instance(const Env& env, InstanceConfig config, MemoryBudget& memory)
    : impl_(std::make_unique<Impl>(env, std::move(config), memory)) {}

Instance::~Instance() = default;

Result<Instance::Ended> Instance::run() {
  return with_scope(impl_->env.domain, [&](Scope& fibers) { return impl_->run(fibers); });
}

void Instance::request_stop() {
  impl_->end_with(Ended::kStopped);
}

bool Instance::ready() const {
  return impl_->shards.ready() && !impl_->ending.is_set();
}

Instance::Figures Instance::figures() const {
  return {impl_->shards.figures(), impl_->cache.bytes(), impl_->cache.counters()};
}

std::string Instance::incarnation() const {
  return impl_->self.text();
}

}  // namespace morula
