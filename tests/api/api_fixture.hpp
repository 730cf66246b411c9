// An Api over rows in memory, and a placement that says what a test wants.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "core/api/api.hpp"
#include "core/base/json.hpp"
#include "core/rt/clock.hpp"
#include "core/rt/network.hpp"
#include "core/stream/streams.hpp"
#include "sim/world/test_world.hpp"
#include "tests/stream/memory_rows.hpp"

namespace morula {

class FakePlacement : public Placement {
 public:
  Place place = ServedUnknown{};
  Prefix shard;                          // of `place`
  std::vector<ShardPlace> other_shards;  // beside it
  std::deque<Place> after_refreshes;     // each refresh learns the next of these
  size_t refreshes = 0;
  bool is_ready = true;

  Place locate(StreamId) override { return place; }
  std::vector<ShardPlace> shards() override {
    std::vector<ShardPlace> found = other_shards;
    found.push_back({shard, place});
    return found;
  }
  void await_change(Time) override {}
  void refresh(Time) override {
    ++refreshes;
    if (after_refreshes.empty()) return;
    place = after_refreshes.front();
    after_refreshes.pop_front();
  }
  bool ready() const override { return is_ready; }
};

/// A shard that is served here.
struct LocalShard {
  explicit LocalShard(const Env& env, const StreamLimits& limits = {})
      : rows(env), streams(env, rows, limits) {
    rows.wall_follows_clock = true;
  }
  MemoryRows rows;
  Streams streams;

  static ServedHere serve(const std::shared_ptr<LocalShard>& shard) {
    return {std::shared_ptr<Streams>(shard, &shard->streams)};
  }
};

inline StreamHasher test_hasher() {
  return StreamHasher(HashSecret{1, 2, 3});
}

/// A process with an Api, whose placement and shard a test holds.
struct ApiNode {
  ApiNode(sim::TestWorld& world, const std::string& name, CellControl* cell = nullptr)
      : address(sim::SimNetwork::address_of(name)), process(world.add(name)) {
    process.spawn("serve", [this, cell](const Env& env) {
      shard = std::make_shared<LocalShard>(env);
      Api api(env, test_hasher(), placement, {}, cell);
      try {
        with_scope(env.domain, [&](Scope& scope) {
          env.network.serve(scope, [&](const HttpRequest& request) {
            seen.push_back(request);
            return api.handle(request);
          });
          Event forever;
          forever.wait();
        });
      } catch (const Cancelled&) {
        placement.place = ServedUnknown{};
        shard.reset();
        throw;
      }
    });
    world.pass(Duration(0));
  }
  void serves() { placement.place = LocalShard::serve(shard); }
  void knows(const ApiNode& other) { placement.place = ServedElsewhere{other.address}; }

  std::string address;
  FakePlacement placement;
  std::shared_ptr<LocalShard> shard;
  std::vector<HttpRequest> seen;
  sim::Process& process;
};

/// A client of such nodes, which tests derived from this have as members.
class ApiWorldTest : public testing::Test {
 protected:
  /// Runs `body` as the client.
  template <class Body>
  void run(Body body) {
    EXPECT_TRUE(world_.run([&](const Env& env) {
      env_ = &env;
      body();
    }));
  }
  HttpResponse ask(const std::string& address, const HttpRequest& request) {
    const auto response =
        env_->network.call(address, request, env_->clock.now() + std::chrono::minutes(2));
    EXPECT_TRUE(response) << response.error().message;
    return response.value_or(HttpResponse{});
  }
  /// Of an error's body; empty: it is none.
  static std::string code_of(const HttpResponse& response) {
    const auto body = Json::parse(response.body);
    return body && body->find("error") ? body->find("error")->string_at("code").value_or("?") : "";
  }

  sim::TestWorld world_;
  const Env* env_ = nullptr;
};

}  // namespace morula
