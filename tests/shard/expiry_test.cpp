// Time and the end of streams, as a shard and its compaction keep them.
#include <gtest/gtest.h>

#include "tests/shard/owner.hpp"

namespace morula {
namespace {

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

/// What a descriptor row's value is in these tests: the stream's path.
std::optional<std::string> listing_of(std::string_view value, StreamId id, Generation generation) {
  return row_key::listing("t", value, generation, id);
}

/// The rows of a stream that is created with a message, so that it lives until `deadline`.
std::vector<Row> created(StreamId id, std::string_view path, std::string deadline) {
  const Row descriptor{Tree::kMeta, row_key::meta(id, Generation(1), RowKind::kDescriptor),
                       ChangeNumber(1), false, std::string(path)};
  const Row listed{Tree::kIndex, *listing_of(path, id, Generation(1)), ChangeNumber(1), false, ""};
  return {hot(id, 1, 1, std::move(deadline)), descriptor, data(id, 1, 1, 1), listed};
}

std::vector<std::string> listed(Owner& owner) {
  std::vector<std::string> paths;
  RangeScan scan{row_key::listing_begin("t", ""), row_key::listing_end("t", "")};
  EXPECT_TRUE(owner.shard->scan_index(scan, [&](const RowView& row) -> Result<bool> {
    if (!row.deleted) paths.emplace_back(row_key::parse(Tree::kIndex, row.key)->path);
    return true;
  }));
  return paths;
}

TEST(ShardExpiry, ATakerWhoseClockIsBehindDoesNotGoBackBehindWhatWasDurable) {
  sim::TestWorld world;
  in_world(world, [&](const Env& env, Scope& scope, std::list<Owner>& owners) {
    for (const bool flushes : {false, true}) {
      Owner& a = owners.emplace_back(env, "a", scope);
      owners.size() == 1 ? a.begin() : a.take_over(std::prev(owners.end(), 2)->id);
      const WallTime begun = a.served.wall();
      env.clock.sleep(std::chrono::seconds(1));
      EXPECT_LE(a.shard->durable_wall(), begun) << "nothing has been written since";
      const LogSeq seq =
          a.shard->apply(stream(1), changed_rows_of({hot(stream(1), 1, owners.size())}));
      ASSERT_TRUE(a.served.confirm(seq, ShardRows::Wrote::kYes));
      if (flushes) a.flush(scope);
      const WallTime durable = a.shard->durable_wall();
      EXPECT_GE(durable.ms, begun.ms + 1000);
      world.process().clock().step_wall(-3'600'000);
      EXPECT_GE(a.served.wall(), durable);
      Owner& b = owners.emplace_back(env, "b", scope);
      b.take_over(a.id);
      EXPECT_GE(b.served.wall(), durable);
      world.process().clock().step_wall(3'600'000);
    }
  });
}

TEST(ShardExpiry, ACompactionDropsWhatHadExpiredWhenTheLastFlushWasCut) {
  sim::TestWorld world;
  in_world(world, [&](const Env& env, Scope& scope, std::list<Owner>& owners) {
    ShardConfig config;
    config.compaction.stack_tables = 2;
    config.compaction.bottom_stack_tables = 2;
    config.deadline_of = &until;
    config.listing_of = &listing_of;
    Owner& a = owners.emplace_back(env, "a", scope, config);
    a.begin();
    const int64_t now = a.served.wall().ms;
    const StreamId brief = stream(1);
    const StreamId renewed = stream(2);
    const std::string soon = std::to_string(now + 60'000);
    a.shard->apply(brief, changed_rows_of(created(brief, "brief", soon)));
    a.shard->apply(renewed, changed_rows_of(created(renewed, "renewed", soon)));
    a.flush(scope);
    a.shard->apply(stream(3),
                   changed_rows_of({hot(stream(3), 1, 1, ""), data(stream(3), 1, 1, 1)}));
    a.flush(scope);
    a.shard->apply(renewed, changed_rows_of({hot(renewed, 1, 2, std::to_string(now + 900'000))}));

    env.clock.sleep(std::chrono::seconds(61));
    scope.spawn("compactor", [s = a.shard] { s->run_compactor(); });
    env.clock.sleep(std::chrono::seconds(10));
    EXPECT_EQ(a.shard->manifest().tables.size(), 3u) << "merged, one of each tree";
    EXPECT_TRUE(holds(a, renewed)) << "a row that isn't flushed keeps it";
    EXPECT_EQ(a.value(brief), soon) << "as far as the last flush knew, it was alive";
    EXPECT_EQ(listed(a), (std::vector<std::string>{"brief", "renewed"}));

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
    EXPECT_EQ(listed(a), (std::vector<std::string>{"renewed"}));
    EXPECT_EQ(a.shard->manifest().mark, Generation(1));
    EXPECT_GE(a.shard->manifest().wall_floor.ms, now + 60'000);
  });
}

}  // namespace
}  // namespace morula
