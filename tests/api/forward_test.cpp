// Several instances: whichever is asked, the one that serves the stream answers.
#include "core/api/forward.hpp"

#include <gtest/gtest.h>

#include "core/api/responses.hpp"
#include "core/base/json.hpp"
#include "sim/world/test_world.hpp"
#include "tests/api/api_fixture.hpp"

namespace morula {
namespace {

using Node = ApiNode;

class ForwardTest : public ApiWorldTest {
 protected:
  ~ForwardTest() override {
    for (Node* node : {&a_, &b_, &c_}) node->process.kill();
    world_.pass(Duration(0));
  }
  HttpResponse ask(const Node& node, const HttpRequest& request) {
    return ApiWorldTest::ask(node.address, request);
  }
  static HttpRequest request(std::string method, std::string body = {}) {
    HttpRequest made;
    made.method = std::move(method);
    made.target = "/v1/stream/a%20b?offset=-1";
    made.headers.set("Content-Type", "text/plain");
    made.headers.set("Host", "public.example");
    made.body = std::move(body);
    return made;
  }
  static HttpRequest append(std::string body, uint64_t seq) {
    HttpRequest made = request("POST", std::move(body));
    made.headers.set("Producer-Id", "p");
    made.headers.set("Producer-Epoch", "0");
    made.headers.set("Producer-Seq", std::to_string(seq));
    return made;
  }
  static std::string header(const HttpResponse& response, std::string_view name) {
    const auto value = response.headers.find(name);
    return std::string(value.value_or("none"));
  }

  Node a_{world_, "a"};
  Node b_{world_, "b"};
  Node c_{world_, "c"};
};

TEST_F(ForwardTest, AnyInstanceTakesAnyRequest) {
  a_.knows(b_);
  b_.serves();
  run([&] {
    const HttpResponse created = ask(a_, request("PUT", "first"));
    EXPECT_EQ(created.status, 201);
    EXPECT_EQ(header(created, kForwardedToHeader), b_.address);
    EXPECT_EQ(header(created, "Location"), "http://public.example/v1/stream/a%20b");
    EXPECT_EQ(header(created, "Stream-Next-Offset"), "0000000000000001_0000000000000005");
    EXPECT_EQ(ask(a_, append("x", 0)).status, 200);
    EXPECT_EQ(ask(b_, append("x", 0)).status, 204);
    const HttpResponse read = ask(a_, request("GET"));
    EXPECT_EQ(read.body, "firstx");
    EXPECT_EQ(header(read, "X-Content-Type-Options"), "nosniff");
    EXPECT_EQ(header(ask(b_, request("GET")), kForwardedToHeader), "none");
    HttpRequest conditional = request("GET");
    conditional.headers.set("If-None-Match", header(read, "ETag"));
    EXPECT_EQ(ask(a_, conditional).status, 304);
    EXPECT_EQ(ask(a_, request("HEAD")).status, 200);
    EXPECT_EQ(ask(a_, append("x", 7)).status, 409);
    EXPECT_EQ(header(ask(a_, append("x", 7)), "Producer-Expected-Seq"), "1");
    EXPECT_EQ(ask(a_, request("DELETE")).status, 204);
    EXPECT_EQ(ask(b_, request("GET")).status, 404);
  });
  EXPECT_EQ(*b_.seen.front().headers.find(kHopsHeader), "1");
  EXPECT_FALSE(b_.seen.front().headers.contains("Host"));
  EXPECT_EQ(a_.placement.refreshes, 0u);
}

TEST_F(ForwardTest, APinnedRequestIsToldWhereToGo) {
  a_.knows(b_);
  b_.serves();
  run([&] {
    HttpRequest pinned = request("POST", "x");
    pinned.headers.set(kPinHeader, "redirect");
    const HttpResponse response = ask(a_, pinned);
    EXPECT_EQ(response.status, 307);
    EXPECT_EQ(code_of(response), "moved");
    EXPECT_EQ(header(response, kReplayToHeader), b_.address);
    EXPECT_EQ(header(response, "Location"), b_.address + "/v1/stream/a%20b?offset=-1");
    EXPECT_EQ(ask(b_, pinned).status, 404) << "the owner serves it";
  });
  EXPECT_EQ(b_.seen.size(), 1u);
}

TEST_F(ForwardTest, AStaleOwnerSendsTheRequestOn) {
  a_.knows(b_);
  b_.knows(c_);
  c_.serves();
  run([&] {
    const HttpResponse created = ask(a_, request("PUT", "x"));
    EXPECT_EQ(created.status, 201);
    EXPECT_EQ(header(created, kForwardedToHeader), c_.address);
  });
  EXPECT_EQ(a_.placement.refreshes, 1u);
  EXPECT_EQ(b_.placement.refreshes, 0u);
  EXPECT_EQ(c_.seen.size(), 1u);
  EXPECT_EQ(*c_.seen.front().headers.find(kHopsHeader), "1");
}

TEST_F(ForwardTest, InstancesThatPointAtEachOtherEndInMoving) {
  a_.knows(b_);
  b_.knows(a_);
  c_.knows(b_);
  run([&] {
    for (const Node* asked : {&a_, &b_, &c_}) {
      EXPECT_EQ(code_of(ask(*asked, request("POST", "x"))), "moving");
    }
  });
  EXPECT_LT(a_.seen.size() + b_.seen.size() + c_.seen.size(), 20u);
}

TEST_F(ForwardTest, ADeadOwnerIsLookedForAgain) {
  a_.knows(b_);
  b_.process.kill();
  a_.placement.after_refreshes = {ServedUnknown{}, ServedElsewhere{c_.address}};
  c_.serves();
  run([&] {
    EXPECT_EQ(ask(a_, request("PUT", "x")).status, 201);
    EXPECT_EQ(ask(a_, request("GET")).body, "x");
  });
}

TEST_F(ForwardTest, AnOwnerThatBecomesThisInstanceItselfIsServedHere) {
  a_.knows(b_);
  b_.knows(a_);
  a_.placement.after_refreshes = {LocalShard::serve(a_.shard)};
  run([&] { EXPECT_EQ(ask(a_, request("PUT", "x")).status, 201); });
  EXPECT_EQ(b_.seen.size(), 1u);
}

TEST_F(ForwardTest, AnOwnerThatIsMovingIsAskedAgain) {
  a_.knows(b_);
  b_.serves();
  b_.shard->rows.lease = false;
  run([&] {
    EXPECT_EQ(code_of(ask(a_, request("GET"))), "moving");
    EXPECT_EQ(a_.placement.refreshes, 2u) << "an owner is asked three times at most";
    EXPECT_EQ(b_.placement.refreshes, 0u);
    a_.placement.after_refreshes = {ServedElsewhere{c_.address}};
    c_.serves();
    EXPECT_EQ(ask(a_, request("GET")).status, 404);
  });
}

TEST_F(ForwardTest, AHeadFindsAnOwnerThatMovedAsAGetDoes) {
  a_.knows(b_);
  b_.serves();
  b_.shard->rows.lease = false;
  a_.placement.after_refreshes = {ServedElsewhere{c_.address}};
  c_.serves();
  run([&] {
    const HttpResponse absent = ask(a_, request("HEAD"));
    EXPECT_EQ(absent.status, 404);
    EXPECT_EQ(header(absent, kErrorHeader), "stream_not_found");
    EXPECT_EQ(header(absent, kForwardedToHeader), c_.address);
  });
  EXPECT_EQ(a_.placement.refreshes, 1u);
}

TEST_F(ForwardTest, AHeadsErrorHasTheLengthThatTheGetsHas) {
  a_.knows(b_);
  b_.serves();
  run([&] {
    const HttpResponse whole = ask(a_, request("GET"));
    const HttpResponse absent = ask(a_, request("HEAD"));
    EXPECT_EQ(header(absent, "Content-Length"), std::to_string(whole.body.size()));
    EXPECT_EQ(absent.body, "");
    EXPECT_EQ(header(whole, "Content-Length"), "none");
  });
}

TEST_F(ForwardTest, AChangeWhoseAnswerIsLostIsNotRepeatedButAReadIs) {
  a_.knows(b_);
  b_.serves();
  int lost = 0;
  world_.world().network().set_fates(
      [&](sim::ProcessId from, sim::ProcessId, sim::SimNetwork::Way way) {
        sim::CallFate fate;
        fate.lost = lost > 0 && from == b_.process.id() && way == sim::SimNetwork::Way::kAnswer;
        if (fate.lost) --lost;
        return fate;
      });
  run([&] {
    ask(a_, request("PUT"));
    lost = 1;
    const HttpResponse unknown = ask(a_, append("x", 0));
    EXPECT_EQ(unknown.status, 503);
    EXPECT_EQ(code_of(unknown), "outcome_unknown");
    EXPECT_NE(header(unknown, "Retry-After"), "none");
    EXPECT_EQ(b_.seen.size(), 2u);
    EXPECT_EQ(ask(a_, append("x", 0)).status, 204) << "it had been carried out";
    lost = 2;
    EXPECT_EQ(ask(a_, request("GET")).body, "x");
  });
}

TEST_F(ForwardTest, AnOwnerThatIsStoppedDoesNotHoldARequestForGood) {
  a_.knows(b_);
  b_.serves();
  run([&] {
    ask(a_, request("PUT"));
    b_.process.pause();
    const Time asked = env_->clock.now();
    EXPECT_EQ(code_of(ask(a_, request("POST", "x"))), "outcome_unknown");
    EXPECT_LT(env_->clock.now() - asked, std::chrono::seconds(11));
    a_.placement.after_refreshes = {ServedElsewhere{c_.address}};
    c_.serves();
    EXPECT_EQ(ask(a_, request("GET")).status, 404) << "the new owner answers";
    EXPECT_LT(env_->clock.now() - asked, std::chrono::seconds(22));
    b_.process.resume();
  });
}

}  // namespace
}  // namespace morula
