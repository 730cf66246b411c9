// Whole instances on one bucket: serve, forward, take over, stop.
#include "core/cell/instance.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>

#include "core/fleet/collect.hpp"
#include "core/fleet/member.hpp"
#include "core/log/log_object.hpp"
#include "core/lsm/manifest.hpp"
#include "core/rt/clock.hpp"
#include "core/rt/network.hpp"
#include "core/topology/topology.hpp"
#include "sim/world/test_world.hpp"

namespace morula {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr const char* kOne = "/v1/stream/one";

InstanceConfig config(const std::string& name) {
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

TEST(Instance, CreatesACellAndServesIt) {
  Cell cell;
  cell.with_a([&](const Env& env, sim::Process&) {
    EXPECT_EQ(Cell::create(env, "a").status, 201);
    const HttpResponse appended = Cell::ask(env, "a", "POST", kOne, "hello");
    EXPECT_EQ(appended.status, 204) << appended.body;
    const HttpResponse read = Cell::ask(env, "a", "GET", "/v1/stream/one?offset=-1");
    EXPECT_EQ(read.status, 200);
    EXPECT_EQ(read.body, "hello");
    EXPECT_TRUE(cell.instance("a")->ready());
  });
}

TEST(Instance, ForwardsToTheOwner) {
  Cell cell;
  cell.with_a([&](const Env& env, sim::Process&) {
    cell.start("b", 2);
    env.clock.sleep(seconds(2));
    EXPECT_EQ(Cell::create(env, "b").status, 201);
    const HttpResponse appended = Cell::ask(env, "b", "POST", kOne, "hello");
    EXPECT_EQ(appended.status, 204) << appended.body;
    ASSERT_TRUE(appended.headers.contains("Streams-Forwarded-To"));
    EXPECT_EQ(*appended.headers.find("Streams-Forwarded-To"), "http://a:4437");
    EXPECT_EQ(Cell::ask(env, "b", "GET", kOne).body, "hello");
  });
}

TEST(Instance, TakesOverWithinLeaseAndMarginWhenTheOwnerDies) {
  Cell cell;
  cell.with_a([&](const Env& env, sim::Process& a) {
    cell.start("b", 2);
    env.clock.sleep(seconds(15));  // a has learnt that it is not alone: its lease is 12 s
    ASSERT_EQ(Cell::create(env, "a").status, 201);
    ASSERT_EQ(Cell::ask(env, "a", "POST", kOne, "kept").status, 204);
    a.kill();
    const Time died = env.clock.now();
    const HttpResponse read = Cell::ask_until_served(env, "b", "GET", kOne);
    EXPECT_EQ(read.status, 200) << read.body;
    EXPECT_EQ(read.body, "kept");
    EXPECT_LT(env.clock.now() - died, Duration(milliseconds(12600 + 2000)));
    EXPECT_EQ(cell.topology().shards[0].owner.name, "b");
  });
}

TEST(Instance, TakesOverAtOnceWhenTheOwnersProcessIsProvablyGone) {
  Cell cell;
  cell.with_a([&](const Env& env, sim::Process& a) {
    cell.start("b", 1);
    env.clock.sleep(seconds(5));
    ASSERT_EQ(Cell::create(env, "a").status, 201);
    a.kill();
    const Time died = env.clock.now();
    EXPECT_EQ(Cell::ask_until_served(env, "b", "HEAD", kOne).status, 200);
    EXPECT_LT(env.clock.now() - died, Duration(seconds(2)));
  });
}

TEST(Instance, ServesTheSameBytesAfterACrashAndARestart) {
  Cell cell;
  cell.with_a([&](const Env& env, sim::Process& a) {
    ASSERT_EQ(Cell::create(env, "a").status, 201);
    ASSERT_EQ(Cell::ask(env, "a", "POST", kOne, "kept").status, 204);
    a.kill();
    a.start();
    const Time started = env.clock.now();
    const HttpResponse read = Cell::ask_until_served(env, "a", "GET", kOne);
    EXPECT_EQ(read.body, "kept");
    EXPECT_LT(env.clock.now() - started, Duration(seconds(2)));
  });
}

TEST(Instance, WhatTheDeadLeaveIsCollectedButForTheirFences) {
  Cell cell;
  cell.with_a([&](const Env& env, sim::Process& a) {
    ASSERT_EQ(Cell::create(env, "a").status, 201);
    std::string all;
    // Each run leaves a log, and the next one's takeover a flush: so tables are merged as well.
    for (int run = 0; run < 6; ++run) {
      const std::string body = "run " + std::to_string(run) + "; ";
      ASSERT_EQ(Cell::ask_until_served(env, "a", "POST", kOne, body).status, 204);
      all += body;
      a.kill();
      a.start();
    }
    EXPECT_EQ(Cell::ask_until_served(env, "a", "GET", kOne).body, all);
    env.clock.sleep(std::chrono::minutes(21));
    const Topology topology = cell.topology();
    const Manifest manifest =
        decode_manifest(*cell.world.store().peek(topology.shards[0].manifest)).value();
    EXPECT_EQ(cell.world.store().keys("sst/").size(), manifest.tables.size());
    for (const std::string& key : cell.world.store().keys("log/")) {
      const bool own = key.find(topology.shards[0].owner.text()) != std::string::npos;
      EXPECT_TRUE(own || cell.world.store().peek(key)->size() == kLogFenceBytes) << key;
    }
    EXPECT_EQ(Cell::ask(env, "a", "GET", kOne).body, all);
  });
}

TEST(Instance, StartsNoNewCellOverTheDataOfOneWhoseDocumentWasDeleted) {
  for (const std::string document : {"topology.json", "cell.json"}) {
    Cell cell;
    cell.with_a([&](const Env& env, sim::Process& a) {
      ASSERT_EQ(Cell::create(env, "a").status, 201);
      a.kill();
      const Blob kept = cell.world.store().peek(document);
      ASSERT_TRUE(env.store.remove(document, {}));
      a.start();
      env.clock.sleep(seconds(5));
      EXPECT_NE(cell.ended("a").find(document + " is absent, but log/a-"), std::string::npos)
          << cell.ended("a");
      EXPECT_EQ(cell.world.store().peek(document), nullptr);
      cell.world.store().plant(document, *kept);  // as the message says
      a.start();
      EXPECT_EQ(Cell::ask_until_served(env, "a", "HEAD", kOne).status, 200);
    });
  }
}

TEST(Instance, EndsWhenTheTopologyIsDeletedUnderIt) {
  Cell cell;
  cell.with_a([&](const Env& env, sim::Process&) {
    ASSERT_TRUE(env.store.remove("topology.json", {}));
    env.clock.sleep(seconds(15));
    EXPECT_EQ(cell.ended("a"), "topology.json is gone");
  });
}

TEST(Instance, NothingIsCollectedFromACellThatHasLostItsTopology) {
  sim::TestWorld world;
  world.run([&](const Env& env) {
    const IncarnationId dead{"b", Ulid::draw(env.clock.wall(), env.random)};
    const IncarnationId self{"a", Ulid::draw(env.clock.wall(), env.random)};
    for (const IncarnationId& who : {dead, self}) {
      Member member;
      member.incarnation = who;
      member.state = who == dead ? MemberState::kExpired : MemberState::kLive;
      member.lease = seconds(10);
      member.writer = who;
      world.store().plant("members/" + who.name + ".json", encode_member(member));
    }
    world.store().plant("sst/" + dead.text() + "/00000000000000000000.sst", "rows");
    const auto collected = Collector(env, {}, self, 8).Collect();
    ASSERT_FALSE(collected);
    EXPECT_EQ(collected.error().code, ErrorCode::kCorrupt);
    EXPECT_EQ(world.store().keys("sst/").size(), 1u);
  });
}

TEST(Instance, AWokenZombieServesNoStaleReadAndAcknowledgesNothing) {
  Cell cell;
  cell.with_a([&](const Env& env, sim::Process& a) {
    cell.start("b", 2);
    env.clock.sleep(seconds(15));
    ASSERT_EQ(Cell::create(env, "a").status, 201);
    a.pause();
    ASSERT_EQ(Cell::ask_until_served(env, "b", "POST", kOne, "by b").status, 204);
    a.resume();
    const HttpResponse read = Cell::ask(env, "a", "GET", kOne);
    if (read.status == 200) {
      EXPECT_EQ(read.body, "by b");
    }
    env.clock.sleep(seconds(5));
    EXPECT_TRUE(cell.ended("a") == "lease lost" || cell.ended("a") == "fenced") << cell.ended("a");
  });
}

TEST(Instance, StopsCleanlySoThatTheNextRunNeedNotWait) {
  Cell cell;
  cell.with_a([&](const Env& env, sim::Process& a) {
    ASSERT_EQ(Cell::create(env, "a").status, 201);
    ASSERT_EQ(Cell::ask(env, "a", "POST", kOne, "kept").status, 204);
    cell.instance("a")->request_stop();
    env.clock.sleep(seconds(1));
    EXPECT_EQ(cell.ended("a"), "stopped");
    EXPECT_FALSE(a.alive());
    const Member member = decode_member(*cell.world.store().peek("members/a.json")).value();
    EXPECT_EQ(member.state, MemberState::kStopped);
    a.start();
    env.clock.sleep(seconds(1));
    EXPECT_EQ(Cell::ask(env, "a", "GET", kOne).body, "kept");
  });
}

TEST(Instance, StopsWhileItStillWaitsForItsName) {
  Cell cell;
  cell.with_a([&](const Env& env, sim::Process& a) {
    a.pause();
    sim::ProcessOptions options;
    options.name = "elsewhere";
    options.machine = 2;
    Instance* second = nullptr;
    Result<Instance::Ended> ended;
    cell.world.world().add(options, [&](const Env& other) {
      MemoryBudget memory(MemoryShares{});
      Instance instance(other, config("a"), memory);
      second = &instance;
      ended = instance.run();
      second = nullptr;
    });
    env.clock.sleep(seconds(2));
    ASSERT_NE(second, nullptr);
    second->request_stop();
    env.clock.sleep(seconds(1));
    EXPECT_EQ(second, nullptr);
    EXPECT_EQ(ended, Instance::Ended::kStopped);
    a.resume();
    env.clock.sleep(seconds(1));
    EXPECT_EQ(Cell::create(env, "a").status, 201);
  });
}

// What a client sees of a disk that is full for half a minute.
TEST(Instance, AnswersWhileTheStoreTakesNoWritesAndGoesOnByItself) {
  Cell cell;
  cell.start("a", 1);
  bool full = false;
  cell.world.store().set_fates([&](const sim::StoreRequest& request) {
    sim::StoreFate fate;
    if (full && request.call == sim::StoreCall::kPut) fate.refused = ErrorCode::kFull;
    return fate;
  });
  cell.world.run([&](const Env& env) {
    const auto append = [&](const std::string& body, const char* seq) {
      Headers headers;
      headers.add("Producer-Id", "p");
      headers.add("Producer-Epoch", "0");
      headers.add("Producer-Seq", seq);
      return Cell::ask(env, "a", "POST", kOne, body, std::move(headers));
    };
    env.clock.sleep(seconds(1));
    ASSERT_EQ(Cell::create(env, "a").status, 201);
    ASSERT_EQ(Cell::create(env, "a", "/v1/stream/two").status, 201);
    ASSERT_EQ(append("kept ", "0").status, 200);

    full = true;
    const Time start = env.clock.now();
    const HttpResponse unknown = append("late ", "1");
    EXPECT_LT(env.clock.now() - start, Duration(seconds(6)));
    EXPECT_EQ(unknown.status, 503);
    EXPECT_NE(unknown.body.find("outcome_unknown"), std::string::npos) << unknown.body;
    EXPECT_NE(unknown.body.find("no space"), std::string::npos) << unknown.body;
    EXPECT_TRUE(unknown.headers.contains("Retry-After"));

    const Time asked = env.clock.now();
    const auto is_refused = [&](const HttpResponse& response) {
      EXPECT_EQ(response.status, 503);
      EXPECT_TRUE(response.headers.contains("Retry-After"));
    };
    for (int i = 0; i < 100; ++i) is_refused(append("late ", "1"));
    is_refused(Cell::create(env, "a", "/v1/stream/three"));
    is_refused(Cell::ask(env, "a", "DELETE", "/v1/stream/two"));
    is_refused(Cell::ask(env, "a", "GET", kOne));  // would show what may be lost
    EXPECT_EQ(Cell::ask(env, "a", "GET", "/v1/stream/two").status, 200);
    EXPECT_LT(env.clock.now() - asked, Duration(seconds(2))) << "at once";

    env.clock.sleep_until(start + seconds(20));
    full = false;
    env.clock.sleep(seconds(2));
    EXPECT_EQ(append("late ", "1").status, 204) << "a duplicate: the first one has landed";
    EXPECT_EQ(append("last", "2").status, 200);
    EXPECT_EQ(Cell::ask(env, "a", "GET", kOne).body, "kept late last");
  });
}

TEST(Instance, IdleAndAloneMakesAtMostEighteenStoreRequestsAMinute) {
  Cell cell;
  cell.start("a", 1);
  cell.world.run([&](const Env& env) {
    env.clock.sleep(seconds(630));  // a new run looks once for garbage
    const uint64_t before = cell.world.store().sent();
    env.clock.sleep(seconds(600));
    EXPECT_LE(cell.world.store().sent() - before, 180u);
  });
}

}  // namespace
}  // namespace morula
