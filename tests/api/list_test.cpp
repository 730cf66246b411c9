// Listing over several shards and instances: all of it or a 503, never a part.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "core/api/list_routes.hpp"
#include "core/api/responses.hpp"
#include "sim/world/test_world.hpp"
#include "tests/api/api_fixture.hpp"

namespace morula {
namespace {

ListPage::Entry entry(std::string path) {
  return {path, {{"path", path}}};
}

RC_GTEST_PROP(MergePages, GivesTheFirstOfAllThatEveryPartHasSeen, ()) {
  // Each part is a page of its own streams; together they must be a page of all of them.
  const size_t limit = *rc::gen::inRange<size_t>(1, 6);
  std::vector<ListPage> parts(*rc::gen::inRange<size_t>(1, 5));
  std::vector<std::string> all;
  int number = 0;
  for (ListPage& part : parts) {
    auto own = *rc::gen::container<std::vector<std::string>>(
        rc::gen::element<std::string>("a", "b", "c", "d", "e"));
    for (std::string& path : own) path += std::to_string(number++);
    std::ranges::sort(own);
    all.insert(all.end(), own.begin(), own.end());
    const size_t shown = std::min(own.size(), limit);
    for (size_t i = 0; i < shown; ++i) part.streams.push_back(entry(own[i]));
    if (shown < own.size()) part.next = own[shown - 1];
  }
  std::ranges::sort(all);
  const ListPage page = merge_pages(parts, limit);
  RC_ASSERT(page.streams.size() == std::min(all.size(), limit));
  for (size_t i = 0; i < page.streams.size(); ++i) RC_ASSERT(page.streams[i].path == all[i]);
  RC_ASSERT(page.next.has_value() == (all.size() > limit));
  if (page.next) RC_ASSERT(*page.next == page.streams.back().path);
}

TEST(MergePages, APartThatSawLittleBoundsThePage) {
  ListPage little{{entry("a")}, "b"};
  ListPage much{{entry("a1"), entry("c")}, std::nullopt};
  const ListPage page = merge_pages({little, much}, 10);
  ASSERT_EQ(page.streams.size(), 2u);
  EXPECT_EQ(page.next, "b");
  EXPECT_EQ(merge_pages({ListPage{{}, "b"}, much}, 10).next, "b");
}

/// Two instances, each with one half of the space.
struct Node : ApiNode {
  using ApiNode::ApiNode;
  void serves(const char* prefix, const Node& other, const char* others) {
    placement.shard = *Prefix::parse(prefix);
    shard->rows.shards.push_back(placement.shard);
    placement.place = LocalShard::serve(shard);
    placement.other_shards = {{*Prefix::parse(others), ServedElsewhere{other.address}}};
  }
  void create(std::string_view path) {
    const StreamHash hash = test_hasher()("default", path);
    EXPECT_TRUE(std::holds_alternative<Created>(
        shard->streams.create({hash, "default", path, "text/plain", {}, {}})));
  }
};

class ListTest : public ApiWorldTest {
 protected:
  ~ListTest() override {
    for (Node* node : {&a_, &b_}) node->process.kill();
    world_.pass(Duration(0));
  }
  template <class Body>
  void run(Body body) {
    a_.serves("0", b_, "1");
    b_.serves("1", a_, "0");
    ApiWorldTest::run([&] {
      for (const char* path : {"a", "c", "e"}) a_.create(path);
      for (const char* path : {"b", "d"}) b_.create(path);
      body();
    });
  }
  HttpResponse get(const Node& node, std::string query, std::string method = "GET") {
    HttpRequest request;
    request.method = std::move(method);
    request.target = "/v1/streams" + query;
    return ask(node.address, request);
  }
  std::string paths(const Node& node, const std::string& query) {
    const HttpResponse response = get(node, query);
    EXPECT_EQ(response.status, 200) << response.body;
    const auto json = Json::parse(response.body);
    std::string text;
    for (const Json& stream : json->array_at("streams").value_or(Json::Array())) {
      text += stream.string_at("path").value_or("?") + " ";
    }
    if (json->find("next") != nullptr) text += "next " + *json->string_at("next");
    return text;
  }

  Node a_{world_, "a"};
  Node b_{world_, "b"};
};

TEST_F(ListTest, AnyInstanceListsTheStreamsOfAll) {
  run([&] {
    for (const Node* node : {&a_, &b_}) {
      EXPECT_EQ(paths(*node, ""), "a b c d e ");
      EXPECT_EQ(paths(*node, "?limit=2"), "a b next b");
      EXPECT_EQ(paths(*node, "?limit=2&after=b"), "c d next d");
      EXPECT_EQ(paths(*node, "?limit=2&after=d"), "e ");
      EXPECT_EQ(paths(*node, "?prefix=d"), "d ");
    }
  });
}

TEST_F(ListTest, WhoIsAskedForItsShardsAsksNobodyElse) {
  run([&] {
    paths(a_, "?limit=1");
    ASSERT_EQ(b_.seen.size(), 1u);
    EXPECT_EQ(b_.seen[0].headers.find(kShardsHeader), "1");
    EXPECT_EQ(b_.seen[0].target, "/v1/streams?limit=1");
    EXPECT_EQ(a_.seen.size(), 1u);
  });
}

TEST_F(ListTest, AnInstanceThatDoesNotAnswerIsNotLeftOut) {
  run([&] {
    b_.placement.place = ServedUnknown{};
    b_.shard.reset();
    b_.process.kill();
    const HttpResponse response = get(a_, "");
    EXPECT_EQ(response.status, 503);
    EXPECT_TRUE(says_moving(response)) << response.body;
    EXPECT_TRUE(response.headers.contains("Retry-After"));
    EXPECT_GT(a_.placement.refreshes, 0u);
  });
}

TEST_F(ListTest, AShardThatNobodyServesIsNotLeftOut) {
  run([&] {
    a_.placement.other_shards[0].place = ServedUnknown{};
    EXPECT_EQ(get(a_, "").status, 503);
    b_.placement.place = ServedUnknown{};
    EXPECT_EQ(get(b_, "").status, 503);
  });
}

TEST_F(ListTest, ADamagedIndexElsewhereIsTold) {
  run([&] {
    b_.shard->rows.damage(Tree::kIndex, "?");
    EXPECT_EQ(get(a_, "").status, 500);
    EXPECT_EQ(get(b_, "").status, 500);
  });
}

TEST_F(ListTest, WhatIsWrongWithARequestIsToldWithWhatIsAllowed) {
  run([&] {
    for (const auto& [query, told] : std::vector<std::pair<std::string, std::string>>{
             {"?limit=0", "from 1 to 1000"},
             {"?limit=1001", "from 1 to 1000"},
             {"?limit=", "from 1 to 1000"},
             {"?limit=1e2", "from 1 to 1000"},
             {"?limit=1&limit=2", "twice"},
             {"?prefix=%ff", "UTF-8"},
             {"?after=%00", "without control characters"},
             {"?prefix=" + std::string(1025, 'x'), "up to 1024 bytes"}}) {
      const HttpResponse response = get(a_, query);
      EXPECT_EQ(response.status, 400) << query;
      EXPECT_NE(response.body.find(told), std::string::npos) << response.body;
    }
    EXPECT_EQ(get(a_, "", "POST").status, 405);
    EXPECT_EQ(get(a_, "", "HEAD").body, "");
    EXPECT_EQ(get(a_, "?limit=1000&unknown=1").status, 200);
  });
}

}  // namespace
}  // namespace morula
