// A shard over a real log and store: what is visible, what is flushed, what a taker replays.
#include "core/shard/shard.hpp"

#include <gtest/gtest.h>

#include "tests/shard/owner.hpp"

namespace morula {
namespace {

TEST(Shard, ShowsAChangeAtOnceAndConfirmsItWhenItIsDurable) {
  sim::TestWorld world;
  in_world(world, [&](const Env& env, Scope& scope, std::list<Owner>& owners) {
    Owner& a = owners.emplace_back(env, "a", scope);
    a.begin();
    const LogSeq seq = a.shard->apply(stream(1), changed_rows_of({hot(stream(1), 1, 1, "one")}));
    EXPECT_EQ(a.value(stream(1)), "one");
    EXPECT_EQ(world.store().keys("log/").size(), 0u);
    EXPECT_TRUE(a.served.confirm(seq, ShardRows::Wrote::kYes));
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
    EXPECT_TRUE(a.served.confirm(seq, ShardRows::Wrote::kYes));
    const auto read = a.served.confirm(seq, ShardRows::Wrote::kNo);
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
    ASSERT_TRUE(a.served.confirm(last, ShardRows::Wrote::kYes));
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
    ASSERT_TRUE(a.served.confirm(last, ShardRows::Wrote::kYes));

    Owner& b = owners.emplace_back(env, "b", scope);
    b.take_over(a.id);
    EXPECT_EQ(b.value(stream(1)), "flushed");
    EXPECT_EQ(b.value(stream(2)), "new");
    // The old owner learns of it at its next log position, and is never acknowledged again.
    const LogSeq late = a.shard->apply(stream(1), changed_rows_of({hot(stream(1), 1, 2, "late")}));
    const auto answer = a.served.confirm(late, ShardRows::Wrote::kYes);
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

// As when a process is stopped in the middle of it, and finds when it wakes that the shard is
// another's by now.
TEST(Shard, IsDroppedWhileAFlushThatHasLandedStillWaitsForItsAnswer) {
  sim::TestWorld world;
  world.store().set_fates([](const sim::StoreRequest& request) {
    sim::StoreFate fate;
    const bool swaps = request.call == sim::StoreCall::kPut && request.key.starts_with("shards/");
    if (swaps) fate.to_caller = std::chrono::seconds(1);
    return fate;
  });
  in_world(world, [&](const Env& env, Scope& scope, std::list<Owner>& owners) {
    Owner& a = owners.emplace_back(env, "a", scope);
    a.begin();
    a.shard->apply(stream(1), changed_rows_of({hot(stream(1), 1, 1, "x")}));
    bool ended = false;
    with_scope(env.domain, [&](Scope& flusher) {
      flusher.spawn("flusher", [&] {
        a.shard->run_flusher();
        ended = true;
      });
      a.shard->request_flush();
      env.clock.sleep(std::chrono::milliseconds(200));
      EXPECT_EQ(world.store().keys("sst/").size(), 1u);
      EXPECT_TRUE(a.shard->manifest().tables.empty());
      a.shard->retire();
      flusher.join();
    });
    EXPECT_TRUE(ended);
    EXPECT_EQ(a.shard->from(),
              LogSeq(0));  // no pin of the log that would keep it from being trimmed
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
    ASSERT_TRUE(a.served.confirm(last, ShardRows::Wrote::kYes));

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

// It sealed it for a change that was given up before it was settled: somebody may have read it.
TEST(Shard, DoesNotChangeWhatItHasSealed) {
  sim::TestWorld world;
  in_world(world, [&](const Env& env, Scope& scope, std::list<Owner>& owners) {
    Owner& a = owners.emplace_back(env, "a", scope);
    a.begin();
    a.shard->apply(stream(1), changed_rows_of({hot(stream(1), 1, 1)}));
    {
      const MutexLock lock(a.shard->manifest_mutex());
      EXPECT_EQ(a.shard->Seal(), Shard::Swapped::kDone);
    }
    const std::string sealed = *world.store().peek(a.shard->manifest_key());
    scope.spawn("flusher", [&] { a.shard->run_flusher(); });
    a.shard->request_flush();
    env.clock.sleep(std::chrono::seconds(5));
    EXPECT_EQ(*world.store().peek(a.shard->manifest_key()), sealed);
    EXPECT_EQ(a.value(stream(1)), "v");
    scope.cancel();
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
