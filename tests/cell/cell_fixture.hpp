// Whole instances on one bucket, as processes of a simulated world, and a client of theirs.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>

#include "core/cell/instance.hpp"
#include "core/rt/clock.hpp"
#include "core/rt/network.hpp"
#include "core/topology/topology.hpp"
#include "sim/world/test_world.hpp"

namespace morula {

using std::chrono::milliseconds;
using std::chrono::seconds;

inline constexpr const char* kOne = "/v1/stream/one";

inline InstanceConfig config(const std::string& name) {
  InstanceConfig instance;
  instance.name = name;
  instance.lease.watch_interval = milliseconds(500);
  return instance;
}

/// Instances are processes of their own; the test's body is their client.
class Cell {
 public:
  sim::TestWorld world;

  sim::Process& start(const std::string& name, uint32_t machine) {
    sim::ProcessOptions options;
    options.name = name;
    options.machine = machine;
    return world.world().add(options, [this, name](const Env& env) {
      MemoryBudget memory(MemoryShares{});
      Instance instance(env, config(name), memory);
      instances_[name] = &instance;
      const auto ended = instance.run();
      ended_[name] = ended ? describe(*ended) : ended.error().message;
      instances_.erase(name);
    });
  }
  /// Runs `body` a second after the first instance "a" was started.
  void with_a(const std::function<void(const Env&, sim::Process& a)>& body) {
    sim::Process& a = start("a", 1);
    world.run([&](const Env& env) {
      env.clock.sleep(seconds(1));
      body(env, a);
    });
  }
  Instance* instance(const std::string& name) {
    return instances_.contains(name) ? instances_[name] : nullptr;
  }
  std::string ended(const std::string& name) { return ended_[name]; }

  /// One request to an instance; status 0 when there was no answer.
  static HttpResponse ask(const Env& env, const std::string& to, std::string method,
                          std::string target, std::string body = {}, Headers headers = {},
                          Duration patience = seconds(40)) {
    HttpRequest request{std::move(method), std::move(target), std::move(headers), std::move(body)};
    if (!request.headers.contains("Content-Type") && !request.body.empty()) {
      request.headers.add("Content-Type", "text/plain");
    }
    auto response = env.network.call("http://" + to + ":4437", request, env.clock.now() + patience);
    if (response) return *response;
    HttpResponse none;
    none.status = 0;
    none.body = response.error().message;
    return none;
  }
  /// The same, again and again while the answer is 503 or none, for at most 20 s.
  static HttpResponse ask_until_served(const Env& env, const std::string& to, std::string method,
                                       std::string target, std::string body = {}) {
    const Time until = env.clock.now() + seconds(20);
    while (true) {
      HttpResponse response = ask(env, to, method, target, body, {}, seconds(3));
      if ((response.status != 503 && response.status != 0) || env.clock.now() > until) {
        return response;
      }
      env.clock.sleep(milliseconds(100));
    }
  }
  static HttpResponse create(const Env& env, const std::string& to,
                             const std::string& path = kOne) {
    Headers headers;
    headers.add("Content-Type", "text/plain");
    return ask(env, to, "PUT", path, {}, std::move(headers));
  }
  Topology topology() { return decode_topology(*world.store().peek("topology.json")).value(); }

 private:
  static std::string describe(Instance::Ended ended) {
    switch (ended) {
      case Instance::Ended::kStopped:
        return "stopped";
      case Instance::Ended::kFenced:
        return "fenced";
      case Instance::Ended::kLeaseLost:
        return "lease lost";
    }
    return "?";
  }

  std::map<std::string, Instance*> instances_;
  std::map<std::string, std::string> ended_;
};

}  // namespace morula
