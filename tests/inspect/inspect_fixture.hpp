// A bucket as a cell leaves it: an instance that serves, flushes and trims in a simulated world,
// and somebody who looks at what lies there.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/cell/instance.hpp"
#include "core/inspect/inspection_store.hpp"
#include "core/inspect/stored_stream.hpp"
#include "core/inspect/survey.hpp"
#include "core/rt/clock.hpp"
#include "core/rt/network.hpp"
#include "sim/world/test_world.hpp"

namespace morula::inspect_test {

using std::chrono::milliseconds;
using std::chrono::seconds;

class ServedBucket {
 public:
  sim::TestWorld world;
  InstanceConfig config;

  ServedBucket() {
    config.shard.unflushed_bytes_max = 64 * kKiB;
    config.shard.held_log_objects_max = 30;
    config.trim_interval = seconds(1);
  }

  sim::Process& start(const std::string& name) {
    sim::ProcessOptions options;
    options.name = name;
    options.machine = ++machines_;
    return world.world().add(options, [this, name](const Env& env) {
      InstanceConfig own = config;
      own.name = name;
      MemoryBudget memory(MemoryShares{});
      Instance instance(env, own, memory);
      instances_[name] = &instance;
      (void)instance.run();
      instances_.erase(name);
    });
  }
  void stop(const std::string& name) { instances_.at(name)->request_stop(); }

  static HttpResponse ask(const Env& env, const std::string& to, std::string method,
                          std::string target, std::string body = {},
                          std::string type = "text/plain") {
    HttpRequest request{std::move(method), std::move(target), {}, std::move(body)};
    request.headers.add("Content-Type", std::move(type));
    auto response =
        env.network.call("http://" + to + ":4437", request, env.clock.now() + seconds(30));
    return response ? *response : HttpResponse{0, {}, response.error().message, nullptr, nullptr};
  }
  static HttpResponse append(const Env& env, const std::string& to, const std::string& path,
                             std::string body, std::string type = "text/plain") {
    return ask(env, to, "POST", "/v1/stream/" + path, std::move(body), std::move(type));
  }
  static HttpResponse create(const Env& env, const std::string& to, const std::string& path,
                             std::string type = "text/plain") {
    return ask(env, to, "PUT", "/v1/stream/" + path, {}, std::move(type));
  }
  /// All of a stream, as reads over HTTP give it.
  static std::string read_all(const Env& env, const std::string& from, const std::string& path) {
    std::string all;
    std::string offset = "-1";
    for (;;) {
      const HttpResponse read = ask(env, from, "GET", "/v1/stream/" + path + "?offset=" + offset);
      if (read.status != 200) return "status " + std::to_string(read.status);
      all += read.body;
      offset = *read.headers.find("Stream-Next-Offset");
      if (read.headers.contains("Stream-Up-To-Date")) return all;
    }
  }

  /// Streams s0 to s2 with `appends` appends each, so that there are tables, and something in logs.
  static void fill(const Env& env, const std::string& to, int appends = 40) {
    for (int stream = 0; stream < 3; ++stream) {
      ASSERT_LT(create(env, to, "s" + std::to_string(stream)).status, 202);
    }
    for (int i = 0; i < appends; ++i) {
      const std::string path = "s" + std::to_string(i % 3);
      ASSERT_EQ(append(env, to, path, std::string(4000, static_cast<char>('a' + i % 26))).status,
                204);
    }
  }

  std::vector<std::string> keys_with(const std::string& prefix) {
    return world.store().keys(prefix);
  }
  void flip_byte(const std::string& key, size_t at) {
    std::string bytes = *world.store().peek(key);
    bytes[at % bytes.size()] = static_cast<char>(bytes[at % bytes.size()] ^ 0x20);
    world.store().plant(key, std::move(bytes));
  }
  void truncate(const std::string& key, size_t by) {
    const std::string bytes = *world.store().peek(key);
    world.store().plant(key, bytes.substr(0, bytes.size() - std::min(bytes.size(), by)));
  }

 private:
  uint32_t machines_ = 10;
  std::map<std::string, Instance*> instances_;
};

/// Runs `body` with an Env whose store refuses every change.
template <class Body>
auto looking(const Env& env, Body body) {
  InspectionStore store(env.store, env.clock, seconds(30));
  const Env looking_env{env.domain, env.clock,   env.network,  store,
                        env.random, env.compute, env.platform, env.trace};
  return body(looking_env);
}

inline Result<Survey> survey(const Env& env) {
  return looking(env, [](const Env& inspected) { return survey_bucket(inspected, {}); });
}

/// "key: what" of each damage.
inline std::vector<std::string> damages(const Result<Survey>& survey) {
  if (!survey) return {"<" + survey.error().message + ">"};
  std::vector<std::string> shown;
  for (const Damage& damage : survey->damages) shown.push_back(damage.key + ": " + damage.what);
  return shown;
}
inline std::vector<std::string> damaged_keys(const Result<Survey>& survey) {
  if (!survey) return {"<" + survey.error().message + ">"};
  std::vector<std::string> shown;
  for (const Damage& damage : survey->damages) shown.push_back(damage.key);
  return shown;
}

}  // namespace morula::inspect_test
