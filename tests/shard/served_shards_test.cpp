// Shards that come, go and are exchanged below their streams.
#include "core/shard/served_shards.hpp"

#include <gtest/gtest.h>

#include "core/stream/streams.hpp"
#include "tests/shard/owner.hpp"

namespace morula {
namespace {

const Prefix kRoot;
const Prefix kLow = *Prefix::parse("0");
const Prefix kHigh = *Prefix::parse("1");
constexpr StreamId kInLow{1, 1};
constexpr StreamId kInHigh{uint64_t{1} << 63, 1};

/// Shards of `prefixes` with all that `shard` has, which is acknowledged and flushed; their
/// manifests are in no topology.
std::vector<std::shared_ptr<Shard>> copies(Owner& owner, const Shard& shard,
                                           const std::vector<Prefix>& prefixes,
                                           const std::function<void(ManifestTable&)>& change = {}) {
  std::vector<std::shared_ptr<Shard>> made;
  for (const Prefix prefix : prefixes) {
    AdoptedShard adopted;
    adopted.prefix = prefix;
    adopted.epoch = shard.epoch() + 1;
    adopted.manifest_key = "shards/" + prefix.text() + "/test.manifest";
    adopted.manifest.content = shard.manifest();
    for (ManifestTable& table : adopted.manifest.content.tables) {
      table.clip = prefix;
      if (change) change(table);
    }
    adopted.from = owner.log.pin_next();
    adopted.manifest.content.logs = {{prefix, owner.id, adopted.from.seq(), std::nullopt}};
    made.push_back(std::make_shared<Shard>(owner.env, owner.config, owner.log, owner.lease,
                                           owner.cache, owner.numbers, owner.memtables,
                                           std::move(adopted)));
    EXPECT_TRUE(made.back()->open_tables());
  }
  return made;
}

struct Served {
  Served(const Env& env, Owner& owner, Scope& scope)
      : streams(env, owner.served, {}), fibers(scope) {}

  static StreamHash hash(StreamId id) { return {id, 7}; }
  void create(StreamId id) {
    EXPECT_TRUE(std::holds_alternative<Created>(
        streams.create({hash(id), "t", id.text(), "text/plain", {}, "x"})));
  }
  AppendOutcome append(StreamId id, std::string_view body, uint64_t seq) {
    AppendRequest request;
    request.stream = hash(id);
    request.content_type = "text/plain";
    request.body = body;
    request.producer = ProducerClaim{"p", 0, seq};
    return streams.append(request);
  }
  std::string read(StreamId id) {
    ReadRequest request;
    request.stream = hash(id);
    const ReadOutcome outcome = streams.read(request);
    if (const auto* unserved = std::get_if<Unserved>(&outcome)) {
      return std::string(to_string(unserved->error.code));
    }
    const auto* answer = std::get_if<ReadAnswer>(&outcome);
    return answer ? answer->body : "refused";
  }

  Streams streams;
  Scope& fibers;  // of the owner; requests have a scope of their own
};

bool has(Shard& shard, StreamId id) {
  const auto row = shard.find_hot(id);
  return row && row->has_value();
}

void in_served(const std::function<void(Owner&, Served&, Scope&, sim::TestWorld&)>& body) {
  sim::TestWorld world;
  in_world(world, [&](const Env& env, Scope& scope, std::list<Owner>& owners) {
    Owner& owner = owners.emplace_back(env, "a", scope);
    owner.begin();
    Served served(env, owner, scope);
    with_scope(env.domain, [&](Scope& requests) {
      body(owner, served, requests, world);
      requests.join();
    });
  });
}

TEST(ServedShards, SaysWhatIsServedWhileShardsComeAndGo) {
  in_served([](Owner& owner, Served& served, Scope&, sim::TestWorld&) {
    served.create(kInLow);
    ServedShards& shards = owner.served;
    EXPECT_TRUE(shards.serves(kRoot) && shards.serves(kInLow) && shards.serves(kInHigh));
    EXPECT_FALSE(shards.serves(kLow)) << "that is a part of one";
    EXPECT_TRUE(shards.stop(kRoot));
    EXPECT_FALSE(shards.serves(kRoot) || shards.serves(kInLow) || shards.serves(kInHigh));
    EXPECT_EQ(served.read(kInLow), "moved");
    EXPECT_EQ(shards.find_shard(kRoot), owner.shard) << "stopped, and not gone";
    EXPECT_TRUE(shards.resume(kRoot));
    EXPECT_EQ(served.read(kInLow), "x");
    shards.remove(kRoot);
    EXPECT_FALSE(shards.serves(kRoot) || shards.serves(kInLow));
    EXPECT_FALSE(shards.stop(kRoot) || shards.resume(kRoot) || shards.find_shard(kRoot));
    EXPECT_EQ(shards.all().size(), 0u);
    RangeScan scan{"", "~"};
    const auto scanned = shards.scan_index(kRoot, scan, [](const RowView&) { return true; });
    EXPECT_EQ(scanned.error().code, ErrorCode::kMoved);
    const auto room = shards.wait_for_room(kInLow, 1, ShardRows::Change::kEnds);
    EXPECT_EQ(room.error().code, ErrorCode::kMoved);
  });
}

TEST(ServedShards, AreExchangedAllOrNone) {
  in_served([](Owner& owner, Served& served, Scope&, sim::TestWorld&) {
    served.create(kInLow);
    served.create(kInHigh);
    owner.flush(served.fibers);
    ServedShards& shards = owner.served;
    const auto children = copies(owner, *owner.shard, {kLow, kHigh});
    EXPECT_FALSE(shards.replace({kLow, kHigh}, {owner.shard}));
    EXPECT_TRUE(shards.replace({kRoot}, children));
    EXPECT_TRUE(shards.serves(kLow) && shards.serves(kHigh) && !shards.serves(kRoot));
    EXPECT_TRUE(std::holds_alternative<Appended>(served.append(kInLow, "a", 0)));
    EXPECT_TRUE(std::holds_alternative<Appended>(served.append(kInHigh, "b", 0)));
    EXPECT_EQ(served.read(kInLow), "xa");
    EXPECT_EQ(served.read(kInHigh), "xb");
    EXPECT_FALSE(has(*children[0], kInHigh) || has(*children[1], kInLow));
    EXPECT_EQ(shards.applied(kLow), children[0]->applied());
    shards.stop(kHigh);
    EXPECT_FALSE(shards.replace({kLow, kHigh}, {owner.shard})) << "one of them has stopped";
    EXPECT_TRUE(shards.serves(kInLow));
    EXPECT_EQ(shards.all(), children);
  });
}

TEST(ServedShards, AnAppendWhoseShardIsSplitBetweenLookingAndWritingLandsInTheChild) {
  in_served([](Owner& owner, Served& served, Scope& scope, sim::TestWorld&) {
    served.create(kInLow);
    served.create(kInHigh);
    owner.flush(served.fibers);
    const auto children = copies(owner, *owner.shard, {kLow, kHigh});
    served.streams.forget(kRoot);
    int appended = 0;
    const auto append = [&](StreamId id) {
      const AppendOutcome outcome = served.append(id, "y", 0);
      if (std::holds_alternative<Appended>(outcome)) ++appended;
    };
    scope.spawn("append", [&] { append(kInLow); });
    scope.spawn("append", [&] { append(kInHigh); });
    owner.env.clock.sleep(std::chrono::milliseconds(1));  // both look for the stream's row
    EXPECT_TRUE(owner.served.replace({kRoot}, children));
    owner.env.clock.sleep(std::chrono::seconds(1));
    EXPECT_EQ(appended, 2);
    EXPECT_EQ(owner.shard->unflushed_bytes(), 0u);
    EXPECT_GT(children[0]->unflushed_bytes(), 0u);
    EXPECT_GT(children[1]->unflushed_bytes(), 0u);
    served.streams.forget(kRoot);
    EXPECT_EQ(served.read(kInLow), "xy");
    EXPECT_EQ(served.read(kInHigh), "xy");
  });
}

TEST(ServedShards, AnAppendWhoseShardIsGivenAwayMeanwhileChangesNothing) {
  in_served([](Owner& owner, Served& served, Scope& scope, sim::TestWorld& world) {
    served.create(kInLow);
    owner.flush(served.fibers);
    served.streams.forget(kRoot);
    const size_t logged = world.store().keys("log/").size();
    std::optional<ErrorCode> ended;
    scope.spawn("append", [&] {
      const AppendOutcome outcome = served.append(kInLow, "y", 0);
      ended = std::get<Unserved>(outcome).error.code;
    });
    owner.env.clock.sleep(std::chrono::milliseconds(1));
    owner.served.remove(kRoot);
    served.streams.forget(kRoot);
    owner.env.clock.sleep(std::chrono::seconds(1));
    EXPECT_EQ(ended, ErrorCode::kMoved);
    EXPECT_EQ(owner.shard->unflushed_bytes(), 0u);
    EXPECT_EQ(world.store().keys("log/").size(), logged);
  });
}

/// A read is under way while `happen`, and finds that its table has been collected.
std::string read_without_table(
    const std::function<void(Owner&, Served&, sim::TestWorld&)>& happen) {
  std::string said;
  in_served([&](Owner& owner, Served& served, Scope& scope, sim::TestWorld& world) {
    served.create(kInLow);
    owner.flush(served.fibers);
    served.streams.forget(kRoot);
    const std::vector<std::string> tables = world.store().keys("sst/");
    scope.spawn("read", [&] { said = served.read(kInLow); });
    owner.env.clock.sleep(std::chrono::milliseconds(1));
    happen(owner, served, world);
    for (const std::string& table : tables) world.store().destroy(table);
    owner.env.clock.sleep(std::chrono::seconds(1));
  });
  return said;
}

TEST(ServedShards, AReadWhoseShardWasReplacedAndClearedAwayAsksTheSuccessor) {
  const auto split = [](Owner& owner, Served&, sim::TestWorld& world) {
    // As if the child had merged its tables.
    const auto children = copies(owner, *owner.shard, {kLow, kHigh}, [&](ManifestTable& table) {
      const std::string merged = table.key + ".merged";
      world.store().plant(merged, *world.store().peek(table.key));
      table.key = merged;
    });
    EXPECT_TRUE(owner.served.replace({kRoot}, children));
  };
  EXPECT_EQ(read_without_table(split), "x");
}

TEST(ServedShards, AReadOfAShardThatIsAnothersByNowIsNoDamage) {
  const auto stop = [](Owner& owner, Served&, sim::TestWorld&) { owner.served.stop(kRoot); };
  const auto remove = [](Owner& owner, Served& served, sim::TestWorld&) {
    owner.served.remove(kRoot);
    served.streams.forget(kRoot);
  };
  EXPECT_EQ(read_without_table(stop), "moved");
  EXPECT_EQ(read_without_table(remove), "moved");
  EXPECT_EQ(read_without_table([](Owner&, Served&, sim::TestWorld&) {}), "corrupt");
}

}  // namespace
}  // namespace morula
