#include "sim/world/world.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/rt/clock.hpp"
#include "core/rt/compute.hpp"
#include "core/rt/network.hpp"
#include "core/rt/platform.hpp"
#include "core/rt/store.hpp"
#include "sim/world/test_world.hpp"

namespace morula::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

HttpRequest get_request(std::string target) {
  HttpRequest request;
  request.method = "GET";
  request.target = std::move(target);
  return request;
}

HttpResponse text_response(std::string body) {
  HttpResponse response;
  response.body = std::move(body);
  return response;
}

TEST(TestWorld, RunsAFiberToItsEndInVirtualTime) {
  TestWorld world;
  Duration slept{};
  EXPECT_TRUE(world.run([&](const Env& env) {
    Time before = env.clock.now();
    env.clock.sleep(seconds(3000));
    slept = env.clock.now() - before;
  }));
  EXPECT_EQ(slept, seconds(3000));
}

TEST(World, AFastClockShowsMoreTimeThanHasPassed) {
  World world(1);
  Duration slept{};
  ProcessOptions fast;
  fast.name = "fast";
  fast.clock_rate = {21, 20};
  world.add(fast, [&](const Env& env) {
    env.clock.sleep(seconds(21));
    slept = world.now().time_since_epoch();
  });
  world.run_for(seconds(100));
  EXPECT_EQ(slept, seconds(20));
}

TEST(World, ATimerOfAClockThatIsSlowedDownComesNotEarly) {
  World world(1);
  Duration slept{};
  ProcessOptions options;
  options.name = "a";
  Process& process = world.add(options, [&](const Env& env) {
    Time before = env.clock.now();
    env.clock.sleep(seconds(10));
    slept = env.clock.now() - before;
  });
  world.run_for(seconds(5));
  process.clock().set_rate({1, 2});
  world.run_for(seconds(9));
  EXPECT_EQ(slept, seconds(0));
  world.run_for(seconds(2));
  EXPECT_EQ(slept, seconds(10));
}

TEST(World, AWallClockThatIsSetDoesNotMoveTheMonotonicOne) {
  TestWorld world;
  world.run([&](const Env& env) {
    Time now = env.clock.now();
    WallTime wall = env.clock.wall();
    world.process().clock().step_wall(-5000);
    EXPECT_EQ(env.clock.now(), now);
    EXPECT_EQ(env.clock.wall().ms, wall.ms - 5000);
  });
}

TEST(World, APausedProcessHearsItsTimersAndAnswersWhenItResumes) {
  World world(1);
  ProcessOptions options;
  options.name = "a";
  std::vector<Duration> heard;
  Process& process = world.add(options, [&](const Env& env) {
    with_scope(env.domain, [&](Scope& scope) {
      scope.spawn("timer", [&] {
        env.clock.sleep(seconds(2));
        heard.push_back(world.now().time_since_epoch());
      });
      scope.spawn("answer", [&] {
        env.clock.sleep(milliseconds(999));
        EXPECT_FALSE(env.store.get("absent", {}, {}));
        heard.push_back(world.now().time_since_epoch());
      });
      scope.join();
    });
  });
  world.run_for(seconds(1));
  process.pause();
  world.run_for(seconds(9));
  EXPECT_TRUE(heard.empty());
  process.resume();
  world.run_for(seconds(1));
  ASSERT_EQ(heard.size(), 2u);
  for (Duration at : heard) {
    EXPECT_GE(at, seconds(10));
    EXPECT_LE(at, seconds(10) + milliseconds(1));
  }
}

TEST(World, APutOfAKilledProcessMayLandAndItsAnswerGoesNowhere) {
  World world(1);
  ProcessOptions options;
  options.name = "a";
  bool answered = false;
  Process& process = world.add(options, [&](const Env& env) {
    (void)env.store.put("key", make_blob("value"), Precondition::if_absent(), {});
    answered = true;
  });
  world.run_for(milliseconds(1));
  process.kill();
  EXPECT_EQ(world.store().peek("key"), nullptr);
  world.run_for(seconds(1));
  ASSERT_NE(world.store().peek("key"), nullptr);
  EXPECT_FALSE(answered);
}

TEST(World, ARestartedProcessSharesNothingWithItsFormerRun) {
  World world(1);
  ProcessOptions options;
  options.name = "a";
  std::vector<uint64_t> drawn;
  Process& process = world.add(options, [&](const Env& env) {
    drawn.push_back(env.random.next());
    env.clock.sleep(seconds(1000));
  });
  ProcessIdentity first;
  world.run_for(seconds(1));
  first = process.env().platform.self();
  process.kill();
  EXPECT_FALSE(process.alive());
  process.start();
  world.run_for(seconds(1));
  EXPECT_EQ(process.runs(), 2u);
  EXPECT_NE(process.env().platform.self(), first);
  EXPECT_TRUE(process.env().platform.provably_gone(first));
  ASSERT_EQ(drawn.size(), 2u);
  EXPECT_NE(drawn[0], drawn[1]);
}

TEST(Platform, OnlyTheSameMachineKnowsThatAProcessIsGone) {
  TestWorld world;
  Process& near = world.add("near", 0);
  Process& far = world.add("far", 1);
  ProcessIdentity near_identity = near.env().platform.self();
  ProcessIdentity far_identity = far.env().platform.self();
  const Platform& platform = world.process().env().platform;
  EXPECT_FALSE(platform.provably_gone(near_identity));
  near.pause();
  EXPECT_FALSE(platform.provably_gone(near_identity));
  near.kill();
  far.kill();
  EXPECT_TRUE(platform.provably_gone(near_identity));
  EXPECT_FALSE(platform.provably_gone(far_identity));
}

TEST(Network, ACallRunsTheHandlerOfTheOtherProcess) {
  TestWorld world;
  Process& server = world.add("server");
  server.spawn("serve", [](const Env& env) {
    with_scope(env.domain, [&](Scope& scope) {
      env.network.serve(scope, [&](const HttpRequest& request) {
        env.clock.sleep(milliseconds(5));
        return text_response("you asked " + request.target);
      });
      scope.join();
      env.clock.sleep(seconds(10));
    });
  });
  world.run([&](const Env& env) {
    env.clock.sleep(milliseconds(1));
    auto answer = env.network.call("http://server:4437", get_request("/x"), kNever);
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->body, "you asked /x");
  });
}

TEST(Network, ACallToNobodyIsNotFound) {
  TestWorld world;
  world.run([&](const Env& env) {
    auto answer = env.network.call("http://nobody:4437", get_request("/"), kNever);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, ErrorCode::kNotFound);
  });
}

struct SlowServer {
  explicit SlowServer(TestWorld& world) : process(world.add("server")) {
    process.spawn("serve", [this](const Env& env) {
      with_scope(env.domain, [&](Scope& scope) {
        env.network.serve(scope, [&](const HttpRequest&) {
          ++begun;
          env.clock.sleep(seconds(5));
          return text_response("done");
        });
        env.clock.sleep(seconds(100));
      });
    });
  }
  Process& process;
  int begun = 0;
};

TEST(Network, TheCallerOfAKilledProcessHearsThatItsConnectionIsClosed) {
  TestWorld world;
  SlowServer server(world);
  world.world().events().after(seconds(2), EventQueue::kAlwaysOpen, [&] { server.process.kill(); });
  world.run([&](const Env& env) {
    env.clock.sleep(seconds(1));
    auto answer = env.network.call("http://server:4437", get_request("/"), kNever);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, ErrorCode::kUnavailable);
    EXPECT_EQ(server.begun, 1);
  });
}

TEST(Network, ARequestToAPausedProcessWaitsThereAndRunsWhenItResumes) {
  TestWorld world;
  SlowServer server(world);
  world.pass(seconds(1));
  server.process.pause();
  world.world().events().after(seconds(20), EventQueue::kAlwaysOpen,
                               [&] { server.process.resume(); });
  world.run([&](const Env& env) {
    auto answer =
        env.network.call("http://server:4437", get_request("/"), env.clock.now() + seconds(10));
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, ErrorCode::kTimeout);
    EXPECT_EQ(server.begun, 0);
    env.clock.sleep(seconds(11));
    EXPECT_EQ(server.begun, 1);
  });
}

TEST(Compute, WorkIsDoneWhenRunReturnsAndTakesTime) {
  TestWorld world;
  world.run([&](const Env& env) {
    int done = 0;
    Time before = env.clock.now();
    for (int i = 0; i < 10; ++i) {
      env.compute.run([&] { ++done; });
      EXPECT_EQ(done, i + 1);
    }
    EXPECT_GE(env.clock.now() - before, std::chrono::microseconds(200));
  });
}

}  // namespace
}  // namespace morula::sim
