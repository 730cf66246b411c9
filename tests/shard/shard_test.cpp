// A shard over a real log and store: what is visible, what is flushed, what a taker replays.
#include "core/shard/shard.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <list>

#include "core/log/fence.hpp"
#include "core/rt/random.hpp"
#include "core/shard/record.hpp"
#include "core/shard/replay.hpp"
#include "core/topology/takeover.hpp"
#include "sim/world/test_world.hpp"
#include "tests/lsm/changed_rows_of.hpp"
#include "tests/lsm/scanned_rows.hpp"

namespace morula {
namespace {

constexpr uint64_t kWindow = 2;

struct FakeLease : LeaseView {
  bool held = true;
  bool holds() const override { return held; }
};

LogConfig log_config() {
  LogConfig config;
  config.window = kWindow;
  return config;
}

Row hot(StreamId id, uint64_t generation, uint64_t change, std::string value = "v") {
  return {Tree::kMeta, row_key::meta(id, Generation(generation), RowKind::kHot),
          ChangeNumber(change), false, std::move(value)};
}

Row data(StreamId id, uint64_t generation, uint64_t change, uint64_t end) {
  return {Tree::kData, row_key::data(id, Generation(generation), {end, end}), ChangeNumber(change),
          false, "record " + std::to_string(end)};
}

StreamId stream(uint64_t number) {
  return {number * 0x9E3779B97F4A7C15, number};
}

/// An incarnation that serves the one shard of a cell, for as long as its scope is open.
struct Owner {
  Owner(const Env& e, std::string name, Scope& scope, ShardConfig c = {},
        uint64_t memtable_bytes = 64 * kMiB)
      : env(e),
        config(c),
        id{std::move(name), Ulid::draw(env.clock.wall(), env.random)},
        memory(MemoryShares{.memtables = memtable_bytes}),
        log(env, log_config(), id, scope),
        takeover(env, {}, log) {}

  void begin() { open(takeover.create_first_topology(0)); }
  void take_over(const IncarnationId& victim) {
    const auto fence = fence_log(env, id, victim, LogSeq(0), kWindow, {});
    ASSERT_TRUE(fence);
    open(takeover.run(victim, *fence));
  }
  void open(Result<std::vector<AdoptedShard>> adopted) {
    ASSERT_TRUE(adopted);
    ASSERT_EQ(adopted->size(), 1u);
    shard = std::make_shared<Shard>(env, config, log, lease, cache, numbers, memtables,
                                    std::move(adopted->front()));
    ASSERT_TRUE(shard->open_tables());
    const std::vector<std::shared_ptr<Shard>> shards{shard};
    ASSERT_TRUE(replay_closed_ranges(env, {}, log, shards));
  }
  /// Until the manifest names all that is here now.
  void flush(Scope& scope) {
    const Version before = shard->manifest().version;
    if (!flushing) scope.spawn("flusher", [s = shard] { s->run_flusher(); });
    flushing = true;
    shard->request_flush();
    while (shard->manifest().version == before) env.clock.sleep(std::chrono::milliseconds(5));
  }
  std::string value(StreamId id_) {
    const auto row = shard->find_hot(id_);
    return row && *row ? (*row)->value : "absent";
  }

  const Env env;
  const ShardConfig config;
  const IncarnationId id;
  FakeLease lease;
  BlockCache cache{kMiB};
  TableNumbers numbers;
  MemoryBudget memory;
  Memtables memtables{memory};
  LogWriter log;
  Takeover takeover;
  std::shared_ptr<Shard> shard;
  bool flushing = false;
};

/// Runs `body` with owners that outlive the fibers of `scope`, which end with it.
void in_world(sim::TestWorld& world,
              const std::function<void(const Env&, Scope&, std::list<Owner>&)>& body) {
  world.run([&](const Env& env) {
    std::list<Owner> owners;
    with_scope(env.domain, [&](Scope& scope) { body(env, scope, owners); });
  });
}

RC_GTEST_PROP(Record, ReadsBackAndRefusesEveryTruncation, ()) {
  const StreamId id{*rc::gen::arbitrary<uint64_t>(), *rc::gen::arbitrary<uint64_t>()};
  std::vector<Row> rows;
  const auto count = *rc::gen::inRange<uint64_t>(0, 5);
  for (uint64_t i = 0; i < count; ++i) {
    rows.push_back(i % 2 == 0 ? hot(id, i + 1, i, *rc::gen::arbitrary<std::string>())
                              : data(id, i + 1, i, i * 1000));
    rows.back().deleted = *rc::gen::arbitrary<bool>();
  }
  std::string payload;
  encode_record(id, changed_rows_of(rows), payload);
  const auto read = decode_record(id, payload);
  RC_ASSERT(read.has_value());
  std::string again;
  encode_record(id, changed_rows_of(*read), again);
  RC_ASSERT(again == payload);
  for (size_t cut = 0; cut < payload.size(); ++cut) {
    RC_ASSERT(!decode_record(id, std::string_view(payload).substr(0, cut)).has_value());
  }
}

TEST(Shard, ShowsAChangeAtOnceAndConfirmsItWhenItIsDurable) {
  sim::TestWorld world;
  in_world(world, [&](const Env& env, Scope& scope, std::list<Owner>& owners) {
    Owner& a = owners.emplace_back(env, "a", scope);
    a.begin();
    const LogSeq seq = a.shard->apply(stream(1), changed_rows_of({hot(stream(1), 1, 1, "one")}));
    EXPECT_EQ(a.value(stream(1)), "one");
    EXPECT_EQ(world.store().keys("log/").size(), 0u);
    EXPECT_TRUE(a.shard->confirm(seq, ShardRows::Wrote::kYes));
    EXPECT_EQ(world.store().keys("log/").size(), 1u);
    EXPECT_EQ(a.value(stream(2)), "absent");
  });
}

TEST(Shard, NeedsTheLeaseForAnAnswerThatWroteNothing) {
  sim::TestWorld world;
  in_world(world, [&](const Env& env, Scope& scope, std::list<Owner>& owners) {
    Owner& a = owners.emplace_back(env, "a", scope);
    a.begin();
    a.lease.held = false;
    const LogSeq seq = a.shard->apply(stream(1), changed_rows_of({hot(stream(1), 1, 1)}));
    EXPECT_TRUE(a.shard->confirm(seq, ShardRows::Wrote::kYes));
    const auto read = a.shard->confirm(seq, ShardRows::Wrote::kNo);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, ErrorCode::kLeaseLost);
  });
}

TEST(Shard, ReadsTheSameRowsBeforeAndAfterAFlush) {
  sim::TestWorld world;
  in_world(world, [&](const Env& env, Scope& scope, std::list<Owner>& owners) {
    Owner& a = owners.emplace_back(env, "a", scope);
    a.begin();
    LogSeq last;
    for (uint64_t i = 0; i < 50; ++i) {
      last = a.shard->apply(stream(i), changed_rows_of({hot(stream(i), 1, i + 1, std::to_string(i)),
                                                        data(stream(i), 1, i + 1, 1)}));
    }
    ASSERT_TRUE(a.shard->confirm(last, ShardRows::Wrote::kYes));
    a.flush(scope);
    EXPECT_EQ(world.store().keys("sst/").size(), 2u);
    EXPECT_EQ(a.shard->manifest().tables.size(), 2u);
    for (uint64_t i = 0; i < 50; ++i) {
      EXPECT_EQ(a.value(stream(i)), std::to_string(i));
      const auto rows = scanned_rows(*a.shard, {stream(i), Generation(1), {}, {1, 1}, kMiB});
      ASSERT_TRUE(rows);
      EXPECT_EQ(rows->size(), 1u);
    }
  });
}

TEST(Shard, IsFoundByATakerInTablesAndLogAlike) {
  sim::TestWorld world;
  in_world(world, [&](const Env& env, Scope& scope, std::list<Owner>& owners) {
    Owner& a = owners.emplace_back(env, "a", scope);
    a.begin();
    a.shard->apply(stream(1), changed_rows_of({hot(stream(1), 1, 1, "flushed")}));
    a.shard->apply(stream(2), changed_rows_of({hot(stream(2), 1, 1, "old")}));
    a.flush(scope);
    const LogSeq last = a.shard->apply(stream(2), changed_rows_of({hot(stream(2), 1, 2, "new")}));
    ASSERT_TRUE(a.shard->confirm(last, ShardRows::Wrote::kYes));

    Owner& b = owners.emplace_back(env, "b", scope);
    b.take_over(a.id);
    EXPECT_EQ(b.value(stream(1)), "flushed");
    EXPECT_EQ(b.value(stream(2)), "new");
    // The old owner learns of it at its next log position, and is never acknowledged again.
    const LogSeq late = a.shard->apply(stream(1), changed_rows_of({hot(stream(1), 1, 2, "late")}));
    const auto answer = a.shard->confirm(late, ShardRows::Wrote::kYes);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, ErrorCode::kFenced);
    EXPECT_EQ(b.value(stream(1)), "flushed");
    // Once the taker has flushed, its manifest needs the dead log no more.
    b.flush(scope);
    EXPECT_EQ(b.shard->manifest().log_incarnations(), std::vector<IncarnationId>{b.id});
  });
}

TEST(Shard, StopsFlushingWhenItsManifestIsSealed) {
  sim::TestWorld world;
  in_world(world, [&](const Env& env, Scope& scope, std::list<Owner>& owners) {
    Owner& a = owners.emplace_back(env, "a", scope);
    a.begin();
    a.shard->apply(stream(1), changed_rows_of({hot(stream(1), 1, 1, "x")}));
    Owner& b = owners.emplace_back(env, "b", scope);
    b.take_over(a.id);
    const std::string before = encode_manifest(a.shard->manifest());
    bool ended = false;
    with_scope(env.domain, [&](Scope& flusher) {
      flusher.spawn("flusher", [&] {
        a.shard->run_flusher();
        ended = true;
      });
      a.shard->request_flush();
      flusher.join();
    });
    EXPECT_TRUE(ended);
    EXPECT_EQ(encode_manifest(a.shard->manifest()), before);
  });
}

TEST(Shard, ReplaysMoreThanItsMemoryBySpillingAndPublishesThatWithItsFirstFlush) {
  sim::TestWorld world;
  in_world(world, [&](const Env& env, Scope& scope, std::list<Owner>& owners) {
    Owner& a = owners.emplace_back(env, "a", scope);
    a.begin();
    LogSeq last;
    for (uint64_t i = 0; i < 200; ++i) {
      last =
          a.shard->apply(stream(i), changed_rows_of({hot(stream(i), 1, 1, std::string(500, 'x'))}));
    }
    ASSERT_TRUE(a.shard->confirm(last, ShardRows::Wrote::kYes));

    ShardConfig small;
    small.unflushed_bytes_max = 20 * kKiB;
    Owner& b = owners.emplace_back(env, "b", scope, small);
    b.take_over(a.id);
    EXPECT_GT(world.store().keys("sst/").size(), 3u);
    EXPECT_TRUE(b.shard->manifest().tables.empty());
    for (uint64_t i = 0; i < 200; ++i) ASSERT_EQ(b.value(stream(i)), std::string(500, 'x'));
    b.flush(scope);
    Owner& c = owners.emplace_back(env, "c", scope);
    c.take_over(b.id);
    for (uint64_t i = 0; i < 200; ++i) ASSERT_EQ(c.value(stream(i)), std::string(500, 'x'));
  });
}

TEST(Shard, SlowsAppendsDownWhileItsMemoryIsNearlyFullAndTakesThemAll) {
  sim::TestWorld world;
  in_world(world, [&](const Env& env, Scope& scope, std::list<Owner>& owners) {
    Owner& a = owners.emplace_back(env, "a", scope, ShardConfig{}, 4 * kMiB);
    a.begin();
    scope.spawn("flusher", [s = a.shard] { s->run_flusher(); });
    for (uint64_t i = 0; i < 500; ++i) {
      auto room = a.shard->wait_for_room(20'000, ShardRows::Change::kAppends);
      ASSERT_TRUE(room) << room.error().message;
      a.shard->apply(stream(i), changed_rows_of({hot(stream(i), 1, 1, std::string(20'000, 'x'))}));
      *room = {};
      EXPECT_LE(a.memory.memtables.used(), 4 * kMiB);
    }
    EXPECT_GT(world.store().keys("sst/").size(), 3u);
    EXPECT_GT(a.shard->figures().delayed_writes, 0u);
    EXPECT_GT(a.shard->figures().delay.count(), 0);
    EXPECT_EQ(a.shard->figures().delayed_now, 0u);
    for (uint64_t i = 0; i < 500; ++i) ASSERT_EQ(a.value(stream(i)), std::string(20'000, 'x'));
  });
}

TEST(Shard, RefusesAppendsAtItsBoundAndDeletesLater) {
  sim::TestWorld world;
  in_world(world, [&](const Env& env, Scope& scope, std::list<Owner>& owners) {
    Owner& a = owners.emplace_back(env, "a", scope, ShardConfig{}, 4 * kMiB);
    a.begin();  // and nobody flushes
    uint64_t taken = 0;
    Result<MemoryReservation> room;
    const Time begun = env.clock.now();
    while ((room = a.shard->wait_for_room(20'000, ShardRows::Change::kAppends))) {
      *room = {};
      a.shard->apply(stream(taken),
                     changed_rows_of({hot(stream(taken), 1, 1, std::string(20'000, 'x'))}));
      ASSERT_LT(++taken, 1000u);
    }
    EXPECT_EQ(room.error().code, ErrorCode::kBusy);
    EXPECT_GT(room.error().retry_after_ms, 0);
    EXPECT_GT(taken, 100u);
    EXPECT_EQ(a.memory.refusals(MemoryRefusal::kAppendMemoryBusy), 1u);
    EXPECT_LE(a.memory.memtables.used(), 4 * kMiB);
    EXPECT_TRUE(a.shard->wait_for_room(0, ShardRows::Change::kEnds));
    const Time refused = env.clock.now();
    EXPECT_GT(refused, begun) << "the last of them were slowed down";
    EXPECT_FALSE(a.shard->wait_for_room(20'000, ShardRows::Change::kAppends));
    EXPECT_EQ(env.clock.now(), refused) << "a refusal is told at once";
    a.flush(scope);
    EXPECT_TRUE(a.shard->wait_for_room(20'000, ShardRows::Change::kAppends));
    EXPECT_EQ(a.memory.memtables.used(), a.shard->figures().memtable_bytes);
  });
}

/// A hot row's value in these tests: until when its stream lives.
std::optional<WallTime> until(std::string_view value) {
  int64_t ms = 0;
  for (const char c : value) ms = ms * 10 + (c - '0');
  return value.empty() ? std::nullopt : std::optional(WallTime{ms});
}

bool holds(Owner& owner, StreamId id) {
  const auto rows = scanned_rows(*owner.shard, {id, Generation(1), {}, {9, 9}, kMiB});
  return rows && !rows->empty();
}

TEST(Shard, ATakerWhoseClockIsBehindDoesNotGoBackBehindWhatWasDurable) {
  sim::TestWorld world;
  in_world(world, [&](const Env& env, Scope& scope, std::list<Owner>& owners) {
    for (const bool flushes : {false, true}) {
      Owner& a = owners.emplace_back(env, "a", scope);
      owners.size() == 1 ? a.begin() : a.take_over(std::prev(owners.end(), 2)->id);
      const WallTime begun = a.shard->wall();
      env.clock.sleep(std::chrono::seconds(1));
      EXPECT_LE(a.shard->durable_wall(), begun) << "nothing has been written since";
      const LogSeq seq =
          a.shard->apply(stream(1), changed_rows_of({hot(stream(1), 1, owners.size())}));
      ASSERT_TRUE(a.shard->confirm(seq, ShardRows::Wrote::kYes));
      if (flushes) a.flush(scope);
      const WallTime durable = a.shard->durable_wall();
      EXPECT_GE(durable.ms, begun.ms + 1000);
      world.process().clock().step_wall(-3'600'000);
      EXPECT_GE(a.shard->wall(), durable);
      Owner& b = owners.emplace_back(env, "b", scope);
      b.take_over(a.id);
      EXPECT_GE(b.shard->wall(), durable);
      world.process().clock().step_wall(3'600'000);
    }
  });
}

TEST(Shard, ACompactionDropsWhatHadExpiredWhenTheLastFlushWasCut) {
  sim::TestWorld world;
  in_world(world, [&](const Env& env, Scope& scope, std::list<Owner>& owners) {
    ShardConfig config;
    config.compaction.stack_tables = 2;
    config.compaction.bottom_stack_tables = 2;
    config.deadline_of = &until;
    Owner& a = owners.emplace_back(env, "a", scope, config);
    a.begin();
    const int64_t now = a.shard->wall().ms;
    const StreamId brief = stream(1);
    const StreamId renewed = stream(2);
    const std::string soon = std::to_string(now + 60'000);
    a.shard->apply(brief, changed_rows_of({hot(brief, 1, 1, soon), data(brief, 1, 1, 1)}));
    a.shard->apply(renewed, changed_rows_of({hot(renewed, 1, 1, soon), data(renewed, 1, 1, 1)}));
    a.flush(scope);
    a.shard->apply(stream(3),
                   changed_rows_of({hot(stream(3), 1, 1, ""), data(stream(3), 1, 1, 1)}));
    a.flush(scope);
    a.shard->apply(renewed, changed_rows_of({hot(renewed, 1, 2, std::to_string(now + 900'000))}));

    env.clock.sleep(std::chrono::seconds(61));
    scope.spawn("compactor", [s = a.shard] { s->run_compactor(); });
    env.clock.sleep(std::chrono::seconds(10));
    EXPECT_EQ(a.shard->manifest().tables.size(), 2u) << "merged";
    EXPECT_TRUE(holds(a, renewed)) << "a row that isn't flushed keeps it";
    EXPECT_EQ(a.value(brief), soon) << "as far as the last flush knew, it was alive";

    for (uint64_t change = 2; change < 4; ++change) {
      for (const StreamId id : {stream(3), stream(4)}) {
        a.shard->apply(id, changed_rows_of({hot(id, 1, change, ""), data(id, 1, change, change)}));
      }
      a.flush(scope);
    }
    env.clock.sleep(std::chrono::seconds(10));
    EXPECT_TRUE(holds(a, renewed));
    EXPECT_FALSE(holds(a, brief));
    EXPECT_EQ(a.value(brief), "absent");
    EXPECT_EQ(a.shard->manifest().mark, Generation(1));
    EXPECT_GE(a.shard->manifest().wall_floor.ms, now + 60'000);
  });
}

TEST(Shard, DrawsGenerationsAboveTheLastAndTheMark) {
  sim::TestWorld world;
  in_world(world, [&](const Env& env, Scope& scope, std::list<Owner>& owners) {
    Owner& a = owners.emplace_back(env, "a", scope);
    a.begin();
    EXPECT_EQ(a.shard->next_generation(std::nullopt), Generation(1));
    EXPECT_EQ(a.shard->next_generation(Generation(4)), Generation(5));
  });
}

}  // namespace
}  // namespace morula
