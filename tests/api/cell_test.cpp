// Several instances of one cell: whichever is asked, the owner of the shard carries the change out.
#include <gtest/gtest.h>

#include "core/api/cell_routes.hpp"
#include "core/api/relay.hpp"
#include "core/base/json.hpp"
#include "core/topology/bucket_plan_document.hpp"
#include "sim/world/test_world.hpp"
#include "tests/api/api_fixture.hpp"
#include "tests/api/fake_cell.hpp"

namespace morula {
namespace {

struct CellNode {
  CellNode(sim::TestWorld& world, FakeCell& cell, const std::string& name)
      : control(cell, name), api(world, name, &control) {
    cell.add(name, api.address);
  }
  FakeControl control;
  ApiNode api;
};

class CellTest : public ApiWorldTest {
 protected:
  void TearDown() override {
    for (CellNode* node : {&i1_, &i2_, &i3_}) node->api.process.kill();
    world_.pass(Duration(0));
  }
  HttpResponse ask(const CellNode& node, const HttpRequest& request) {
    return ApiWorldTest::ask(node.api.address, request);
  }
  HttpResponse ask(const CellNode& node, const std::string& what, const std::string& body) {
    HttpRequest request;
    request.method = body.empty() ? "GET" : "POST";
    request.target = "/v1/cell" + what;
    request.body = body;
    return ask(node, request);
  }
  static Json json_of(const HttpResponse& response) {
    return Json::parse(response.body).value_or(Json());
  }
  static bool changed(const HttpResponse& response) {
    EXPECT_EQ(response.status, 200) << response.body;
    return json_of(response).bool_at("changed").value_or(false);
  }
  static Prefix prefix(std::string_view text) { return Prefix::parse(text).value(); }

  FakeCell cell_;
  CellNode i1_{world_, cell_, "i1"};
  CellNode i2_{world_, cell_, "i2"};
  CellNode i3_{world_, cell_, "i3"};
};

TEST_F(CellTest, AnyInstanceIsAskedAndTheOwnerDoesIt) {
  cell_.own({{"0", "i1"}, {"1", "i2"}});
  run([&] {
    EXPECT_TRUE(changed(ask(i3_, "/split", R"({"prefix":"1"})")));
    EXPECT_EQ(cell_.shown(), "0:i1 10:i2 11:i2");
    EXPECT_TRUE(changed(ask(i1_, "/move", R"({"prefix":"10","to":"i3"})")));
    EXPECT_EQ(cell_.shown(), "0:i1 10:i3 11:i2");
    EXPECT_FALSE(changed(ask(i2_, "/move", R"({"prefix":"10","to":"i3"})")));
    EXPECT_TRUE(changed(ask(i2_, "/move", R"({"prefix":"10","to":"i2"})")));
    EXPECT_TRUE(changed(ask(i1_, "/merge", R"({"prefix":"1"})")));
    EXPECT_FALSE(changed(ask(i3_, "/merge", R"({"prefix":"1"})")));
    EXPECT_EQ(cell_.shown(), "0:i1 1:i2");
  });
  EXPECT_TRUE(i1_.control.asked.empty());
  EXPECT_EQ(i2_.control.asked, (std::vector<std::string>{"split 1", "move 10 to i3", "merge 1"}));
  EXPECT_EQ(*i2_.api.seen.front().headers.find(kHopsHeader), "1");
}

TEST_F(CellTest, HalvesThatLiveApartAreMovedTogetherToBeMerged) {
  cell_.own({{"00", "i1"}, {"01", "i2"}, {"1", "i3"}});
  run([&] {
    EXPECT_TRUE(changed(ask(i3_, "/merge", R"({"prefix":"0"})")));
    EXPECT_EQ(cell_.shown(), "0:i1 1:i3");
    EXPECT_TRUE(changed(ask(i1_, "/merge", R"({"prefix":"root"})")));
    EXPECT_EQ(cell_.shown(), "root:i1");
  });
  EXPECT_EQ(i2_.control.asked, std::vector<std::string>{"move 01 to i1"});
  EXPECT_EQ(i3_.control.asked, std::vector<std::string>{"move 1 to i1"});
}

TEST_F(CellTest, HalvesThatCannotBeBroughtTogetherAreNotMerged) {
  cell_.own({{"0", "i1"}, {"1", "i2"}});
  i2_.control.failures = {{ErrorCode::kInvalid, "its moves are frozen"}};
  run([&] {
    const HttpResponse refused = ask(i3_, "/merge", R"({"prefix":"root"})");
    EXPECT_EQ(refused.status, 409);
    EXPECT_NE(refused.body.find("its moves are frozen"), std::string::npos);
    EXPECT_EQ(cell_.shown(), "0:i1 1:i2");
    cell_.set_state("i1", MemberState::kExpired);
    EXPECT_EQ(code_of(ask(i3_, "/merge", R"({"prefix":"root"})")), "moving");
  });
  EXPECT_TRUE(i1_.control.asked.empty());
}

TEST_F(CellTest, AnOwnerThatIsBusyOrOneNoLongerIsAskedAgain) {
  cell_.own({{"0", "i1"}, {"1", "i2"}});
  for (CellNode* asked : {&i2_, &i3_}) {
    i2_.control.failures = {{ErrorCode::kBusy, "a flush"}, {ErrorCode::kMoved, "not here"}};
    run([&] { EXPECT_TRUE(changed(ask(*asked, "/split", R"({"prefix":"1"})"))); });
    EXPECT_EQ(i2_.control.asked.size(), 3u);
    i2_.control.asked.clear();
    cell_.own({{"0", "i1"}, {"1", "i2"}});
  }
}

TEST_F(CellTest, AnOwnerThatStaysBusyOrRefusesSaysWhy) {
  cell_.own({{"0", "i1"}, {"1", "i2"}});
  for (CellNode* asked : {&i2_, &i3_}) {
    i2_.control.failures.assign(5, {ErrorCode::kBusy, "a split is under way"});
    run([&] {
      const HttpResponse busy = ask(*asked, "/split", R"({"prefix":"1"})");
      EXPECT_EQ(busy.status, 503);
      EXPECT_EQ(code_of(busy), "cell_busy");
      EXPECT_TRUE(busy.headers.contains("Retry-After"));
      i2_.control.failures = {{ErrorCode::kInvalid, "only on Sundays"}};
      const HttpResponse refused = ask(*asked, "/split", R"({"prefix":"1"})");
      EXPECT_EQ(refused.status, 409);
      EXPECT_NE(refused.body.find("only on Sundays"), std::string::npos);
    });
  }
  EXPECT_EQ(cell_.shown(), "0:i1 1:i2");
}

TEST_F(CellTest, AChangeWhoseAnswerIsLostIsAskedForAgain) {
  cell_.own({{"0", "i1"}, {"1", "i2"}});
  int lost = 1;
  world_.world().network().set_fates([&](sim::ProcessId from, sim::ProcessId,
                                         sim::SimNetwork::Way way) {
    sim::CallFate fate;
    fate.lost = lost > 0 && from == i2_.api.process.id() && way == sim::SimNetwork::Way::kAnswer;
    if (fate.lost) --lost;
    return fate;
  });
  run([&] {
    EXPECT_TRUE(changed(ask(i1_, "/split", R"({"prefix":"1"})"))) << "it was done for this request";
    EXPECT_EQ(cell_.shown(), "0:i1 10:i2 11:i2");
    lost = 100;
    const HttpResponse untold = ask(i1_, "/split", R"({"prefix":"11"})");
    EXPECT_TRUE(changed(untold)) << "the next look tells";
    i2_.api.process.pause();
    EXPECT_EQ(code_of(ask(i1_, "/split", R"({"prefix":"10"})")), "outcome_unknown");
    i2_.api.process.resume();
  });
  EXPECT_EQ(i2_.control.asked.size(), 2u);
}

TEST_F(CellTest, AnOwnerThatIsGoneIsWaitedForAndNamed) {
  cell_.own({{"0", "i1"}, {"1", "i2"}});
  run([&] {
    i2_.api.process.kill();
    EXPECT_EQ(code_of(ask(i1_, "/split", R"({"prefix":"1"})")), "moving");
    cell_.set_state("i2", MemberState::kExpired);
    const HttpResponse waits = ask(i1_, "/move", R"({"prefix":"1","to":"i3"})");
    EXPECT_EQ(code_of(waits), "moving");
    EXPECT_NE(waits.body.find("i2"), std::string::npos);
    EXPECT_EQ(code_of(ask(i1_, "/drain", R"({"instance":"i2"})")), "not_live");
  });
}

TEST_F(CellTest, AShardOfTwelveBitsIsNotSplit) {
  std::vector<std::pair<std::string, std::string>> shards = {{"000000000000", "i1"}};
  for (int length = 12; length > 0; --length) {
    shards.emplace_back(std::string(static_cast<size_t>(length - 1), '0') + "1", "i1");
  }
  cell_.own(shards);
  run([&] {
    EXPECT_EQ(code_of(ask(i2_, "/split", R"({"prefix":"000000000000"})")), "refused");
    EXPECT_TRUE(changed(ask(i2_, "/merge", R"({"prefix":"00000000000"})")));
  });
}

TEST_F(CellTest, ADrainSpreadsTheShardsOverTheOthers) {
  cell_.own({{"000", "i1"},
             {"001", "i1"},
             {"010", "i3"},
             {"011", "i1"},
             {"10", "i1"},
             {"110", "i2"},
             {"111", "i2"}});
  run([&] {
    const HttpResponse drained = ask(i2_, "/drain", R"({"instance":"i1"})");
    EXPECT_TRUE(changed(drained));
    EXPECT_EQ(json_of(drained).array_at("moved")->size(), 4u);
    EXPECT_EQ(cell_.shown(), "000:i3 001:i2 010:i3 011:i3 10:i2 110:i2 111:i2");
    EXPECT_FALSE(changed(ask(i3_, "/drain", R"({"instance":"i1"})")));
  });
}

TEST_F(CellTest, ABalanceMovesOnlyTheExcess) {
  cell_.own({{"000", "i1"}, {"001", "i1"}, {"01", "i1"}, {"10", "i2"}, {"11", "i1"}});
  run([&] {
    const HttpResponse balanced = ask(i2_, "/balance", "{}");
    EXPECT_TRUE(changed(balanced));
    EXPECT_EQ(json_of(balanced).array_at("moved")->size(), 2u);
    EXPECT_FALSE(changed(ask(i3_, "/balance", "{}")));
    cell_.own({{"0", "i1"}, {"1", "i1"}});
    i1_.control.failures = {{ErrorCode::kInvalid, "not today"}};
    EXPECT_EQ(code_of(ask(i2_, "/balance", "{}")), "balance_incomplete");
    EXPECT_TRUE(changed(ask(i2_, "/balance", "{}")));
  });
}

TEST_F(CellTest, ADrainTellsWhatIsLeftAndWhy) {
  cell_.own({{"00", "i1"}, {"01", "i1"}, {"1", "i1"}});
  i1_.control.failures = {{ErrorCode::kInvalid, "no"}};
  run([&] {
    EXPECT_TRUE(changed(ask(i2_, "/drain", R"({"instance":"i1"})"))) << "a second round takes it";
    EXPECT_EQ(cell_.shown(), "00:i2 01:i3 1:i2");
    cell_.own({{"0", "i1"}, {"1", "i1"}});
    i1_.control.failures.assign(4, {ErrorCode::kInvalid, "not today"});
    const HttpResponse left = ask(i2_, "/drain", R"({"instance":"i1"})");
    EXPECT_EQ(left.status, 503);
    EXPECT_EQ(code_of(left), "drain_incomplete");
    EXPECT_TRUE(left.headers.contains("Retry-After"));
    const auto shards = json_of(left).array_at("left");
    ASSERT_EQ(shards->size(), 2u);
    EXPECT_EQ(shards->front().string_at("prefix"), std::string("0"));
    EXPECT_EQ(shards->front().string_at("why"), std::string("not today"));
    i1_.control.failures.clear();
    cell_.set_state("i2", MemberState::kStopped);
    cell_.set_state("i3", MemberState::kExpired);
    EXPECT_EQ(code_of(ask(i2_, "/drain", R"({"instance":"i1"})")), "nobody_else");
  });
}

TEST_F(CellTest, WhatIsUnderWayAnywhereIsToldEverywhere) {
  cell_.own({{"00", "i1"}, {"01", "i2"}, {"1", "i2"}});
  i1_.control.under_way = {{prefix("00"), cell_.incarnation("i3")}};
  i2_.control.under_way = {{prefix("01"), cell_.incarnation("i1")},
                           {prefix("00"), cell_.incarnation("i2")}};  // which is not its own
  i3_.control.under_way = {{prefix("1"), cell_.incarnation("i3")}};
  run([&] {
    const Json shown = json_of(ask(i2_, "", ""));
    EXPECT_EQ(shown.string_at("asked"), std::string("i2"));
    EXPECT_EQ(shown.u64_at("version"), cell_.topology.version.value);
    EXPECT_EQ(shown.array_at("members")->size(), 3u);
    const auto shards = shown.array_at("shards");
    ASSERT_EQ(shards->size(), 3u);
    EXPECT_EQ(shards->front().string_at("address"), i1_.api.address);
    EXPECT_EQ(shown.array_at("silent")->size(), 0u);
    const auto plan = decode_bucket_plan(ask(i1_, "/plan", "").body);
    ASSERT_TRUE(plan) << plan.error().message;
    EXPECT_EQ(plan->version(), cell_.topology.version);
    EXPECT_EQ(plan->placement_for(0), (BucketPlacement{"i1", "i3"}));
    EXPECT_EQ(plan->placement_for(1024), (BucketPlacement{"i2", "i1"}));
    EXPECT_EQ(plan->placement_for(4095), (BucketPlacement{"i2", ""}));
  });
}

TEST_F(CellTest, TheBucketOfAStreamLeadsToItsOwner) {
  cell_.own({{"0", "i1"}, {"1", "i2"}});
  i2_.control.under_way = {{prefix("1"), cell_.incarnation("i3")}};
  const StreamHasher hasher = test_hasher();
  run([&] {
    for (const char* path : {"a", "b", "c", "d/e f"}) {
      const StreamId id = hasher("default", path).id;
      const bool first = prefix("0").contains(id);
      HttpRequest request;
      request.method = "GET";
      request.target = "/v1/cell/plan?path=" + percent_encode(path);
      const Json told = json_of(ask(i3_, request));
      EXPECT_EQ(told.u64_at("bucket"), id.high >> 52);
      EXPECT_EQ(told.string_at("owner"), std::string(first ? "i1" : "i2"));
      EXPECT_EQ(told.string_at("address"), first ? i1_.api.address : i2_.api.address);
      EXPECT_EQ(told.find("to") == nullptr, first);
      request.headers.set("Morula-Tenant", "other");
      EXPECT_EQ(json_of(ask(i3_, request)).u64_at("bucket"), hasher("other", path).id.high >> 52);
    }
    cell_.set_state("i1", MemberState::kExpired);
    cell_.own({{"root", "i1"}});
    HttpRequest request;
    request.method = "GET";
    request.target = "/v1/cell/plan?path=a";
    EXPECT_EQ(json_of(ask(i3_, request)).find("address"), nullptr);
  });
}

TEST_F(CellTest, AnOwnerThatDoesNotTellIsNamedAndTheRestIsToldSoon) {
  cell_.own({{"00", "i1"}, {"01", "i2"}, {"1", "i3"}});
  i3_.control.under_way = {{prefix("1"), cell_.incarnation("i1")}};
  i2_.api.process.pause();
  run([&] {
    const Time asked = env_->clock.now();
    const Json shown = json_of(ask(i1_, "", ""));
    EXPECT_LT(env_->clock.now() - asked, std::chrono::seconds(3));
    EXPECT_EQ(shown.array_at("silent")->front(), Json("i2"));
    EXPECT_EQ(shown.array_at("moves")->size(), 1u);
    EXPECT_EQ(ask(i1_, "/plan", "").status, 200);
  });
  i2_.api.process.resume();
}

TEST_F(CellTest, AnInstanceThatCannotSeeTheCellSaysSo) {
  cell_.own({{"root", "i1"}});
  i1_.control.blind = Error{ErrorCode::kTimeout, "the store does not answer"};
  run([&] {
    EXPECT_EQ(code_of(ask(i1_, "", "")), "store_unavailable");
    EXPECT_EQ(code_of(ask(i1_, "/split", R"({"prefix":"root"})")), "store_unavailable");
    EXPECT_EQ(code_of(ask(i2_, "/split", R"({"prefix":"root"})")), "store_unavailable");
    EXPECT_EQ(code_of(ask(i1_, "/drain", R"({"instance":"i1"})")), "store_unavailable");
  });
  EXPECT_TRUE(i1_.control.asked.empty());
}

TEST_F(CellTest, WithoutACellToControlThereIsNothing) {
  ApiNode plain{world_, "plain"};
  run([&] {
    HttpRequest request;
    request.method = "GET";
    request.target = "/v1/cell";
    EXPECT_EQ(env_->network.call(plain.address, request, kNever)->status, 404);
  });
  plain.process.kill();
  world_.pass(Duration(0));
}

}  // namespace
}  // namespace morula
