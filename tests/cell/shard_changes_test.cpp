// Splits, merges and moves of the shards of whole instances, as an operator asks for them.
#include "core/cell/shard_changes.hpp"

#include <gtest/gtest.h>

#include "core/base/json.hpp"
#include "tests/cell/cell_fixture.hpp"

namespace morula {
namespace {

constexpr int kStreams = 24;

std::string path(int stream) {
  return "/v1/stream/s" + std::to_string(stream);
}

HttpResponse change(const Env& env, const std::string& at, const std::string& what,
                    const std::string& body) {
  Headers headers;
  headers.add("Content-Type", "application/json");
  return Cell::ask(env, at, "POST", "/v1/cell/" + what, body, std::move(headers));
}

/// Streams that grow by one record each time, and have to have all of them.
class Records {
 public:
  explicit Records(const Env& env) : env_(env) {
    for (int i = 0; i < kStreams; ++i) EXPECT_EQ(Cell::create(env, "a", path(i)).status, 201);
  }
  void append(const std::string& at) {
    const std::string record = std::to_string(appended_++) + ",";
    for (int i = 0; i < kStreams; ++i) {
      const HttpResponse response = Cell::ask(env_, at, "POST", path(i), record);
      EXPECT_EQ(response.status, 204) << response.body;
    }
    expected_ += record;
  }
  void check(const std::string& at) {
    for (int i = 0; i < kStreams; ++i) {
      const HttpResponse read = Cell::ask(env_, at, "GET", path(i) + "?offset=-1");
      EXPECT_EQ(read.status, 200) << read.body;
      EXPECT_EQ(read.body, expected_) << path(i);
    }
    const HttpResponse listed = Cell::ask(env_, at, "GET", "/v1/streams?limit=100");
    EXPECT_EQ(listed.status, 200) << listed.body;
    const auto json = Json::parse(listed.body);
    ASSERT_TRUE(json) << listed.body;
    EXPECT_EQ(json->array_at("streams")->size(), size_t{kStreams});
  }

 private:
  const Env& env_;
  int appended_ = 0;
  std::string expected_;
};

std::string shape(Cell& cell) {
  std::string shape;
  for (const TopologyShard& row : cell.topology().shards) {
    shape += row.prefix.text() + "@" + row.owner.name + " ";
  }
  return shape;
}

TEST(ShardChanges, AShardIsSplitAndMergedAndKeepsWhatItHas) {
  Cell cell;
  cell.with_a([&](const Env& env, sim::Process&) {
    Records records(env);
    records.append("a");
    const HttpResponse split = change(env, "a", "split", R"({"prefix":"root"})");
    ASSERT_EQ(split.status, 200) << split.body;
    EXPECT_EQ(shape(cell), "0@a 1@a ");
    records.check("a");
    records.append("a");
    ASSERT_EQ(change(env, "a", "split", R"({"prefix":"1"})").status, 200);
    EXPECT_EQ(shape(cell), "0@a 10@a 11@a ");
    records.append("a");
    records.check("a");
    ASSERT_EQ(change(env, "a", "merge", R"({"prefix":"1"})").status, 200);
    records.append("a");
    const HttpResponse merged = change(env, "a", "merge", R"({"prefix":"root"})");
    ASSERT_EQ(merged.status, 200) << merged.body;
    EXPECT_EQ(shape(cell), "root@a ");
    records.append("a");
    records.check("a");
  });
}

TEST(ShardChanges, AShardIsMovedAndServedByItsNewOwner) {
  Cell cell;
  cell.start("b", 2);
  cell.with_a([&](const Env& env, sim::Process&) {
    env.clock.sleep(seconds(2));
    Records records(env);
    const std::string owner = cell.topology().shards[0].owner.name;
    const std::string other = owner == "a" ? "b" : "a";
    records.append("b");
    ASSERT_EQ(change(env, "a", "split", R"({"prefix":"root"})").status, 200);
    const HttpResponse moved =
        change(env, "b", "move", R"({"prefix":"1","to":")" + other + R"("})");
    ASSERT_EQ(moved.status, 200) << moved.body;
    EXPECT_EQ(shape(cell), "0@" + owner + " 1@" + other + " ");
    records.check("a");
    records.append("b");
    records.append("a");
    records.check("b");
    ASSERT_EQ(change(env, "b", "move", R"({"prefix":"1","to":")" + owner + R"("})").status, 200);
    records.append("b");
    records.check("a");
    const HttpResponse drained = change(env, "a", "drain", R"({"instance":")" + owner + R"("})");
    EXPECT_EQ(drained.status, 200) << drained.body;
    EXPECT_EQ(shape(cell), "0@" + other + " 1@" + other + " ");
    records.append("a");
    records.check("b");
  });
}

TEST(ShardChanges, AMoveMakesNobodyUnready) {
  Cell cell;
  cell.start("b", 2);
  cell.with_a([&](const Env& env, sim::Process&) {
    env.clock.sleep(seconds(2));
    const std::string owner = cell.topology().shards[0].owner.name;
    const std::string other = owner == "a" ? "b" : "a";
    bool moved = false;
    with_scope(env.domain, [&](Scope& scope) {
      scope.spawn("watch", [&] {
        while (!moved) {
          for (const char* name : {"a", "b"}) EXPECT_TRUE(cell.instance(name)->ready()) << name;
          env.clock.sleep(std::chrono::microseconds(100));
        }
      });
      const std::string body = R"({"prefix":"root","to":")" + other + R"("})";
      EXPECT_EQ(change(env, owner, "move", body).status, 200);
      moved = true;
    });
    EXPECT_EQ(shape(cell), "root@" + other + " ");
  });
}

TEST(ShardChanges, SurvivorsShareTheShardsOfADeadMember) {
  Cell cell;
  cell.start("b", 2);
  cell.start("c", 3);
  cell.with_a([&](const Env& env, sim::Process& a) {
    env.clock.sleep(seconds(5));
    Records records(env);
    for (const char* prefix : {"root", "0", "1"}) {
      ASSERT_EQ(change(env, "b", "split", R"({"prefix":")" + std::string(prefix) + R"("})").status,
                200);
    }
    for (const char* prefix : {"00", "01", "10", "11"}) {
      const HttpResponse moved =
          change(env, "b", "move", R"({"prefix":")" + std::string(prefix) + R"(","to":"a"})");
      ASSERT_EQ(moved.status, 200) << moved.body;
    }
    records.append("b");
    EXPECT_EQ(shape(cell), "00@a 01@a 10@a 11@a ");
    a.kill();
    EXPECT_EQ(Cell::ask_until_served(env, "b", "GET", path(0) + "?offset=-1").status, 200);
    env.clock.sleep(seconds(5));
    int of_b = 0;
    for (const TopologyShard& row : cell.topology().shards) of_b += row.owner.name == "b" ? 1 : 0;
    EXPECT_EQ(of_b, 2) << shape(cell);
    records.append("b");
    records.check("c");
  });
}

TEST(ShardChanges, AShardIsServedAtOnceByAnInstanceThatReplaysADeadMembersLog) {
  Cell cell;
  cell.with_a([&](const Env& env, sim::Process& a) {
    cell.start("b", 2);
    cell.start("c", 3);
    env.clock.sleep(seconds(15));
    Records records(env);
    ASSERT_EQ(change(env, "a", "split", R"({"prefix":"root"})").status, 200);
    ASSERT_EQ(change(env, "a", "move", R"({"prefix":"1","to":"b"})").status, 200);
    records.append("a");
    int given = 0;  // a stream of b's
    while (!Cell::ask(env, "a", "HEAD", path(given)).headers.contains("Streams-Forwarded-To")) {
      ASSERT_LT(++given, kStreams);
    }

    const std::string log = "log/" + cell.topology().shards[0].owner.text() + "/";
    bool replays = false;
    cell.world.store().set_fates([&](const sim::StoreRequest& request) {
      sim::StoreFate fate;
      const bool slow = request.call == sim::StoreCall::kGet && request.key.starts_with(log);
      if (slow) fate.to_caller = seconds(4);
      replays |= slow;
      return fate;
    });
    a.kill();
    const Time died = env.clock.now();
    while (!replays && env.clock.now() - died < Duration(seconds(20))) {
      env.clock.sleep(milliseconds(10));
    }
    ASSERT_EQ(shape(cell), "0@c 1@b ") << "b has one already";
    const Time asked = env.clock.now();
    ASSERT_EQ(change(env, "b", "move", R"({"prefix":"1","to":"c"})").status, 200);
    EXPECT_EQ(Cell::ask_until_served(env, "c", "GET", path(given)).status, 200);
    EXPECT_LT(env.clock.now() - asked, Duration(seconds(1)));
    EXPECT_FALSE(cell.instance("c")->ready()) << "it has the other one still to replay";
    cell.world.store().set_fates({});
    env.clock.sleep(seconds(10));
    records.check("b");
  });
}

}  // namespace
}  // namespace morula
