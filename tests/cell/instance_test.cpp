// Whole instances on one bucket: serve, forward, take over, stop.
#include "core/cell/instance.hpp"

#include <gtest/gtest.h>

#include <string>

#include "core/fleet/collect.hpp"
#include "core/fleet/member.hpp"
#include "core/log/log_object.hpp"
#include "core/lsm/manifest.hpp"
#include "core/topology/topology.hpp"
#include "tests/cell/cell_fixture.hpp"
#include "tests/sim/fates.hpp"

namespace morula {
namespace {

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

// b asks before there is a topology, and hears so after an operator's question has shown it one.
TEST(Instance, ALateAnswerThatThereIsNoTopologyIsNoDeletion) {
  Cell cell;
  sim::Process& b = cell.start("b", 2);
  bool first = true;
  cell.world.store().set_fates([&](const sim::StoreRequest& request) {
    sim::StoreFate fate;
    const bool late = request.process == b.id() && request.key == "topology.json" && first;
    if (late) fate.to_caller = seconds(4);
    if (late) first = false;
    // So that b is the first to ask.
    if (request.process != b.id() && request.key == "cell.json") fate.to_store = milliseconds(500);
    return fate;
  });
  cell.with_a([&](const Env& env, sim::Process&) {
    env.clock.sleep(seconds(2));
    EXPECT_EQ(Cell::ask(env, "b", "GET", "/v1/cell").status, 200);
    env.clock.sleep(seconds(10));
    EXPECT_FALSE(first);
    EXPECT_EQ(cell.ended("b"), "");
    EXPECT_EQ(Cell::create(env, "b").status, 201);
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

TEST(Instance, NobodyLosesItsLeaseWhenTheMembersCannotBeListed) {
  Cell cell;
  cell.with_a([&](const Env& env, sim::Process&) {
    cell.start("b", 2);
    cell.start("c", 3);
    env.clock.sleep(seconds(30));  // all have learnt that they are not alone
    ASSERT_EQ(Cell::create(env, "a").status, 201);
    ASSERT_EQ(Cell::ask(env, "a", "POST", kOne, "kept").status, 204);
    const Time until = env.clock.now() + seconds(30);
    uint64_t listings = 0;
    cell.world.store().set_fates([&](const sim::StoreRequest& request) {
      const bool hangs = request.call == sim::StoreCall::kList && request.key == "members/" &&
                         env.clock.now() < until;
      if (hangs) ++listings;
      return hangs ? sim::request_lost() : sim::StoreFate{};
    });
    while (env.clock.now() < until + seconds(10)) {
      const HttpResponse read = Cell::ask(env, "b", "GET", kOne, {}, {}, seconds(2));
      EXPECT_EQ(read.status, 200) << read.body;
      EXPECT_EQ(read.body, "kept");
      env.clock.sleep(milliseconds(500));
    }
    EXPECT_GT(listings, 0u);
    for (const std::string name : {"a", "b", "c"}) {
      EXPECT_EQ(cell.ended(name), "");
      const Blob document = cell.world.store().peek("members/" + name + ".json");
      EXPECT_EQ(decode_member(*document)->state, MemberState::kLive) << name;
    }
    EXPECT_EQ(cell.topology().shards[0].owner.name, "a");
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
