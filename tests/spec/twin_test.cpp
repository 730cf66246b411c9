// The twins as a checker of events would use them: one step after another, by name; and walks
// through spaces that are too large to be explored.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <optional>
#include <random>
#include <string>
#include <vector>

#include "invariants/spec/lease.hpp"
#include "invariants/spec/ownership_log.hpp"
#include "invariants/spec/topology.hpp"

namespace morula::spec {
namespace {

using LogAction = OwnershipLog::Action;

template <class Spec>
void take(const Spec& spec, typename Spec::State& state, const typename Spec::Step& step) {
  ASSERT_TRUE(spec.can(state, step)) << Spec::describe(step);
  auto after = state;
  spec.take(state, step, after);
  state = std::move(after);
}

/// Takes so many steps, each drawn from those possible. Returns the first invariant that broke, or
/// what else did.
template <class Spec>
std::optional<std::string> walk(const Spec& spec, const std::vector<std::string>& invariants,
                                uint32_t seed, int steps) {
  std::mt19937 draw(seed);
  auto state = spec.initial();
  for (int n = 0; n < steps; ++n) {
    std::vector<typename Spec::Step> possible;
    spec.each_step(state, [&](const typename Spec::Step& step) {
      if (spec.can(state, step)) possible.push_back(step);
    });
    if (possible.empty()) break;
    auto after = state;
    spec.take(state, possible[draw() % possible.size()], after);
    state = std::move(after);
    typename Spec::State read_back;
    StateEncoder encoder;
    StateDecoder().decode(encoder.encode(state), read_back);
    if (!(read_back == state)) return "a state's bytes do not tell all of it";
    for (const std::string& invariant : invariants) {
      if (!spec.holds(invariant, state)) return invariant;
    }
  }
  return std::nullopt;
}

OwnershipLog::Constants large_log() {
  OwnershipLog::Constants c;
  c.incarnations = 4;
  c.shards = 3;
  c.first_owners = {1, 1, 2};
  c.window = 3;
  c.keep = 3;
  c.max_seq = 12;
  c.max_records = 30;
  c.max_takeovers = 4;
  c.max_handoffs = 4;
  c.max_flushes = 6;
  c.max_collections = 3;
  c.max_fences = 3;
  c.max_reopens = 3;
  c.takers = {1, 2, 3, 4};
  c.land_again = true;
  return c;
}

Topology::Constants large_topology() {
  Topology::Constants c;
  c.incarnations = 3;
  c.space_bits = 3;
  c.root_owner = 1;
  for (int point = 0; point < 8; ++point) c.written.insert(point);
  c.max_seq = 12;
  c.max_records = 24;
  c.max_takeovers = 4;
  c.max_handoffs = 5;
  c.max_splits = 5;
  c.max_merges = 4;
  c.max_reopens = 3;
  c.max_flushes = 6;
  c.max_compactions = 4;
  c.max_collections = 3;
  return c;
}

RC_GTEST_PROP(Twin, OfTheLogHoldsOnWalksThroughLargeSpaces, (uint32_t seed)) {
  RC_ASSERT(walk(OwnershipLog(large_log()), {"D", "X", "U", "F"}, seed, 150) == std::nullopt);
}

RC_GTEST_PROP(Twin, OfTheTopologyHoldsOnWalksThroughLargeSpaces, (uint32_t seed)) {
  RC_ASSERT(walk(Topology(large_topology()), {"P", "D", "X", "U", "M", "N"}, seed, 120) ==
            std::nullopt);
}

RC_GTEST_PROP(Twin, OfTheLeaseHoldsOnWalksThroughLargeSpaces, (uint32_t seed)) {
  Lease::Constants c;
  c.lengths = {20, 45, 60};
  c.margin = 12;
  c.rates = {22, 23, 32, 33};
  c.max_requests = 20;
  RC_ASSERT(walk(Lease(c), {"R"}, seed, 400) == std::nullopt);
}

TEST(Twin, WalksFindWhatAMutantBreaks) {
  OwnershipLog::Constants c = large_log();
  c.switches = uint64_t{1} << static_cast<int>(OwnershipLog::Switch::handNoStop);
  std::optional<std::string> broken;
  for (uint32_t seed = 0; seed < 2000 && !broken; ++seed) {
    broken = walk(OwnershipLog(c), {"D", "X", "U", "F"}, seed, 150);
  }
  EXPECT_NE(broken, std::nullopt);
}

TEST(Twin, FollowsATakeoverThatIsToldToItStepByStep) {
  OwnershipLog::Constants c;
  c.incarnations = 2;
  c.shards = 1;
  c.first_owners = {1};
  c.window = 2;
  c.keep = 2;
  c.max_seq = 100;
  c.takers = {2};
  const OwnershipLog twin(c);
  OwnershipLogState state = twin.initial();

  take(twin, state, {.action = LogAction::kPutLog, .incarnation = 1, .shard = 1});
  take(twin, state, {.action = LogAction::kLandLog, .incarnation = 1, .seq = 0});
  take(twin, state, {.action = LogAction::kPutLog, .incarnation = 1, .shard = 1});
  EXPECT_EQ(state.of(1).acknowledged(), 1);

  // The window is 2: position 2 waits for 0 only, 3 for 1.
  take(twin, state, {.action = LogAction::kPutLog, .incarnation = 1, .shard = 1});
  EXPECT_FALSE(twin.can(state, {.action = LogAction::kPutLog, .incarnation = 1, .shard = 1}));

  const OwnershipLog::Step fence_here{
      .action = LogAction::kTakeOver, .incarnation = 2, .other = 1, .position = 1};
  EXPECT_FALSE(twin.can(
      state, {.action = LogAction::kTakeOver, .incarnation = 2, .other = 1, .position = 2}));
  take(twin, state, fence_here);
  take(twin, state, {.action = LogAction::kFencePut, .incarnation = 2});
  take(twin, state, {.action = LogAction::kFence, .incarnation = 2});
  EXPECT_FALSE(twin.can(state, {.action = LogAction::kLandLog, .incarnation = 1, .seq = 1}));

  take(twin, state, {.action = LogAction::kTakeRead, .incarnation = 2, .shards = {1}});
  EXPECT_FALSE(twin.can(state, {.action = LogAction::kAdopt, .incarnation = 2, .position = 0}));
  take(twin, state, {.action = LogAction::kSeal, .incarnation = 2});
  take(twin, state, {.action = LogAction::kAdopt, .incarnation = 2, .position = 0});
  take(twin, state, {.action = LogAction::kPublish, .request = 0});
  EXPECT_EQ(state.row(1).owner, 2);
  take(twin, state, {.action = LogAction::kReplay, .incarnation = 2, .shard = 1});
  for (const char* invariant : {"D", "X", "U", "F"}) EXPECT_TRUE(twin.holds(invariant, state));
  EXPECT_FALSE(twin.holds("NeverTakenOver", [&] {
    take(twin, state, {.action = LogAction::kPutLog, .incarnation = 2, .shard = 1});
    take(twin, state, {.action = LogAction::kLandLog, .incarnation = 2, .seq = 0});
    return state;
  }()));
}

TEST(Twin, WithoutBoundsTakesInNewIncarnations) {
  OwnershipLog::Constants c;
  c.incarnations = 1;
  c.shards = 1;
  c.first_owners = {1};
  c.window = 2;
  c.keep = 2;
  const OwnershipLog twin(c);
  OwnershipLogState state = twin.initial();
  for (int owner = 1; owner <= 5; ++owner) {
    take(twin, state, {.action = LogAction::kPutLog, .incarnation = owner, .shard = 1});
    take(twin, state, {.action = LogAction::kLandLog, .incarnation = owner, .seq = 0});
    const int taker = state.join();
    EXPECT_EQ(taker, owner + 1);
    take(twin, state,
         {.action = LogAction::kTakeOver, .incarnation = taker, .other = owner, .position = 1});
    take(twin, state, {.action = LogAction::kFencePut, .incarnation = taker});
    take(twin, state, {.action = LogAction::kFence, .incarnation = taker});
    take(twin, state, {.action = LogAction::kTakeRead, .incarnation = taker, .shards = {1}});
    take(twin, state, {.action = LogAction::kSeal, .incarnation = taker});
    take(twin, state, {.action = LogAction::kAdopt, .incarnation = taker, .position = 0});
    take(twin, state, {.action = LogAction::kPublish, .request = 0});
    take(twin, state, {.action = LogAction::kReplay, .incarnation = taker, .shard = 1});
  }
  EXPECT_EQ(state.named(1).logs.size(), 6);  // nothing was flushed

  // Of what the manifest names nothing is collected.
  take(twin, state, {.action = LogAction::kCollectJudge, .incarnation = 3, .position = 1});
  take(twin, state, {.action = LogAction::kCollectReadTopology});
  take(twin, state, {.action = LogAction::kCollectReadManifests});
  EXPECT_FALSE(twin.can(state, {.action = LogAction::kCollect, .incarnation = 3, .seq = 0}));
  for (const char* invariant : {"D", "X", "U", "F"}) EXPECT_TRUE(twin.holds(invariant, state));
}

TEST(Twin, SplitsAndMergesPrefixesOfAnyLength) {
  const Topology twin(large_topology());
  using Action = Topology::Action;
  TopologyState state = twin.initial();
  const HashPrefix root;
  const HashPrefix left = root.child(0);
  take(twin, state, {.action = Action::kAcknowledge, .incarnation = 1, .point = 2});
  take(twin, state, {.action = Action::kSplit, .incarnation = 1, .prefix = root});
  take(twin, state, {.action = Action::kPublish, .request = 0});
  take(twin, state, {.action = Action::kReplay, .incarnation = 1});
  take(twin, state, {.action = Action::kSplit, .incarnation = 1, .prefix = left});
  take(twin, state, {.action = Action::kPublish, .request = 0});
  take(twin, state, {.action = Action::kReplay, .incarnation = 1});
  EXPECT_EQ(state.rows.size(), 3);
  // Siblings only, and of one parent.
  EXPECT_FALSE(twin.can(state, {.action = Action::kMerge, .incarnation = 1, .prefix = root}));
  take(twin, state, {.action = Action::kMerge, .incarnation = 1, .prefix = left});
  take(twin, state, {.action = Action::kPublish, .request = 0});
  EXPECT_EQ(state.row(left)->epoch, 3);
  for (const char* invariant : {"P", "D", "X", "U", "M", "N"}) {
    EXPECT_TRUE(twin.holds(invariant, state)) << invariant;
  }
}

TEST(Twin, DescribesAStepByItsNameAndParameters) {
  EXPECT_EQ(OwnershipLog::describe({.action = LogAction::kFlush, .incarnation = 1, .shard = 2}),
            "Flush incarnation=1 shard=2");
  EXPECT_EQ(Topology::describe({.action = Topology::Action::kSplit,
                                .incarnation = 2,
                                .prefix = HashPrefix{}.child(1).child(0)}),
            "Split incarnation=2 prefix=10");
  EXPECT_EQ(Lease::describe({.action = Lease::Action::kTick, .holder = 2, .watcher = 3}),
            "Tick holder=2 watcher=3");
}

}  // namespace
}  // namespace morula::spec
