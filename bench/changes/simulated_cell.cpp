#include "bench/changes/simulated_cell.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>

#include "core/base/memory_budget.hpp"
#include "core/cell/instance.hpp"
#include "core/rt/clock.hpp"
#include "core/rt/random.hpp"

namespace morula::bench {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Quantiles in us, evenly spaced: p50 25 ms and p99 120 ms for writes, 15 and 80 for reads.
constexpr int64_t kWriteUs[] = {12'000, 17'000, 20'000, 22'000, 25'000,
                                29'000, 36'000, 50'000, 126'000};
constexpr int64_t kReadUs[] = {6000, 9000, 11'000, 13'000, 15'000, 18'000, 24'000, 34'000, 84'000};

template <size_t N>
Duration draw(Random& random, const int64_t (&quantiles)[N]) {
  const uint64_t interval = random.below(N - 1);
  const auto low = static_cast<uint64_t>(quantiles[interval]);
  const auto high = static_cast<uint64_t>(quantiles[interval + 1]);
  return std::chrono::microseconds(random.between(low, high));
}

[[noreturn]] void stop(const std::string& why) {
  std::fprintf(stderr, "bench_changes: %s\n", why.c_str());
  std::exit(1);
}

InstanceConfig config_of(const std::string& name, const SimulatedCell::Shape& shape) {
  InstanceConfig config;
  config.name = name;
  config.first_prefix_bits = shape.first_bits;
  config.log.puts_per_second = shape.puts_per_second;
  if (!shape.looks_often) config.lease.watch_interval = std::chrono::hours(1);
  return config;
}

std::string stream_path(uint64_t stream) {
  return "/v1/stream/s" + std::to_string(stream);
}

// So many are under way at once that a slow one keeps no other waiting.
constexpr uint64_t kWriters = 2000;

HttpRequest request_of(std::string method, std::string target, std::string body) {
  HttpRequest request;
  request.method = std::move(method);
  request.target = std::move(target);
  request.headers.add("Content-Type", "application/octet-stream");
  request.body = std::move(body);
  return request;
}

}  // namespace

double Times::at(uint64_t permille) const {
  if (times_.empty()) return 0;
  std::vector<double> sorted = times_;
  std::ranges::sort(sorted);
  return sorted[std::min(sorted.size() - 1, sorted.size() * permille / 1000)];
}

SimulatedCell::SimulatedCell(uint64_t seed, const Shape& shape) : world_(seed), shape_(shape) {
  world_.trace().add_observer(*this);
  world_.store().set_fates(
      [random = world_.random().fork()](const sim::StoreRequest& asked) mutable {
        const bool writes = asked.call == sim::StoreCall::kPut ||
                            asked.call == sim::StoreCall::kRemove ||
                            asked.call == sim::StoreCall::kRemoveMany;
        const Duration time = writes ? draw(random, kWriteUs) : draw(random, kReadUs);
        sim::StoreFate fate;
        fate.to_store = time / 2;
        fate.to_caller = time - time / 2;
        return fate;
      });
  for (uint32_t i = 0; i < shape.instances; ++i) {
    sim::ProcessOptions options;
    options.name = "i" + std::to_string(i + 1);
    options.machine = i;
    instances_.push_back(&world_.add(options, [this, name = options.name](const Env& env) {
      while (true) {
        MemoryBudget memory(MemoryShares{});
        Instance instance(env, config_of(name, shape_), memory);
        const auto ended = instance.run();
        if (!ended) stop(name + " ended: " + ended.error().message);
      }
    }));
    // The first creates the cell, so that it has all shards.
    if (i == 0) await("the cell", [&] { return served.size() == size_t{1} << shape.first_bits; });
  }
  sim::ProcessOptions options;
  options.name = "client";
  options.machine = shape.instances;
  client_ = &world_.add(options);
  world_.run_for(seconds(10));
}

Topology SimulatedCell::topology() const {
  return decode_topology(*const_cast<SimulatedCell*>(this)->world_.store().peek("topology.json"))
      .value();
}

std::string SimulatedCell::address(uint32_t instance) const {
  return "http://i" + std::to_string(instance + 1) + ":4437";
}

void SimulatedCell::await(const std::string& what, const std::function<bool()>& done) {
  if (world_.run_until_true(done, world_.now() + std::chrono::minutes(1))) return;
  stop(what + " took more than a minute" +
       (world_.failure() ? ": " + world_.failure()->detail : std::string()));
}

void SimulatedCell::as_client(const std::function<void(const Env&)>& body) {
  bool done = false;
  client_->spawn("client", [&](const Env& env) {
    body(env);
    done = true;
  });
  if (!world_.run_until_true([&] { return done; }, world_.now() + std::chrono::minutes(30))) {
    stop("the client did not come to its end");
  }
}

void SimulatedCell::kill(uint32_t instance) {
  instances_[instance]->kill();
}

void SimulatedCell::begin_load(uint64_t appends_per_second, uint64_t streams) {
  as_client([&](const Env& env) {
    for (uint64_t i = 0; i < streams; ++i) {
      const auto created = env.network.call(address(0), request_of("PUT", stream_path(i), ""),
                                            env.clock.now() + seconds(30));
      if (!created || created->status != 201) stop("a stream could not be created");
      if (i % 64 == 0) env.clock.sleep(milliseconds(1));
    }
  });
  const Duration period = seconds(1) * kWriters / appends_per_second;
  for (uint64_t i = 0; i < kWriters; ++i) {
    client_->spawn("writer", [this, i, period, streams](const Env& env) {
      append_for_ever(env, i, period, streams);
    });
  }
}

void SimulatedCell::append_for_ever(const Env& env, uint64_t number, Duration period,
                                    uint64_t streams) {
  constexpr size_t kRecord = 400;
  Time due = env.clock.now() + period * number / kWriters;
  for (;; due += period) {
    env.clock.sleep_until(due);
    Times* times = appends_;
    const uint64_t stream = env.random.below(streams);
    const auto to = static_cast<uint32_t>(env.random.below(shape_.instances));
    const auto answer = env.network.call(
        address(to), request_of("POST", stream_path(stream), std::string(kRecord, 'x')),
        env.clock.now() + seconds(30));
    if (times != appends_) continue;
    if (answer && answer->status == 204) {
      if (times != nullptr) times->add(env.clock.now() - due);
    } else if (times != nullptr) {
      ++failed_;
    }
  }
}

void SimulatedCell::on_log(const sim::Life& /*by*/, Severity /*severity*/, std::string_view event,
                           std::initializer_list<LogField> fields) {
  const bool stops = event == "handing_over";
  if (!stops && event != "serving") return;
  const std::string shard = fields.begin()->value;
  const Duration now = world_.now().time_since_epoch();
  if (stops) {
    stopped_.try_emplace(shard, now);
    return;
  }
  served[shard] = shard;
  if (const auto found = stopped_.find(shard); found != stopped_.end()) {
    pauses.add(now - found->second);
    stopped_.erase(found);
  }
}

std::string ask(const Env& env, SimulatedCell& cell, const std::string& what,
                const std::string& body) {
  for (int made = 0; made < 20; ++made) {
    HttpRequest request = request_of("POST", "/v1/cell/" + what, body);
    request.headers.set("Content-Type", "application/json");
    const auto answer = env.network.call(cell.address(0), request, env.clock.now() + seconds(60));
    if (answer && answer->status == 200) return answer->body;
    if (answer && answer->status != 503) stop(what + " " + body + ": " + answer->body);
    env.clock.sleep(milliseconds(500));
  }
  stop(what + " " + body + " was not done");
}

}  // namespace morula::bench
