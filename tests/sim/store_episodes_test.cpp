#include "sim/faults/store_episodes.hpp"

#include <gtest/gtest.h>

#include "sim/scenario/plan.hpp"

namespace morula::sim {
namespace {

using std::chrono::seconds;
using Episode = StoreEpisodes::Episode;
using Effect = StoreEpisodes::Effect;

constexpr TrueTime at(int64_t second) {
  return TrueTime(seconds(second));
}

StoreRequest request(ProcessId process, Purpose purpose, StoreCall call = StoreCall::kPut) {
  StoreRequest request;
  request.process = process;
  request.purpose = purpose;
  request.call = call;
  return request;
}

StoreFate fate_of(StoreEpisodes& episodes, const StoreRequest& request, TrueTime now) {
  StoreFate fate;
  episodes.apply(request, now, fate);
  return fate;
}

TEST(StoreEpisodes, StrikeOnlyTheirProcessPurposeAndTime) {
  StoreEpisodes episodes;
  Episode episode;
  episode.from = at(10);
  episode.until = at(20);
  episode.process = 1;
  episode.purpose = Purpose::kHeartbeat;
  episodes.begin(episode);
  EXPECT_TRUE(fate_of(episodes, request(1, Purpose::kHeartbeat), at(9)).lands);
  EXPECT_FALSE(fate_of(episodes, request(1, Purpose::kHeartbeat), at(10)).lands);
  EXPECT_TRUE(fate_of(episodes, request(1, Purpose::kLog), at(10)).lands);
  EXPECT_TRUE(fate_of(episodes, request(2, Purpose::kHeartbeat), at(10)).lands);
  EXPECT_TRUE(fate_of(episodes, request(1, Purpose::kHeartbeat), at(20)).lands);
}

TEST(StoreEpisodes, CanSpareOneProcess) {
  StoreEpisodes episodes;
  Episode episode;
  episode.until = at(10);
  episode.but_process = 1;
  episode.call = StoreCall::kGet;
  episode.effect = Effect::kSlow;
  episode.delay = seconds(3);
  episodes.begin(episode);
  const Duration usual = StoreFate{}.to_store;
  EXPECT_EQ(fate_of(episodes, request(0, Purpose::kLog, StoreCall::kGet), at(1)).to_store,
            usual + seconds(3));
  EXPECT_EQ(fate_of(episodes, request(1, Purpose::kLog, StoreCall::kGet), at(1)).to_store, usual);
  EXPECT_EQ(fate_of(episodes, request(0, Purpose::kLog), at(1)).to_store, usual);
}

TEST(StoreEpisodes, AStutterCutsItsVictimOffAtTheFirstRenewalAfterIt) {
  Plan plan;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    StoreEpisodes episodes;
    Random random(seed);
    episodes.strike(Fault::lease_stutter, 1, plan, at(0), random);
    EXPECT_FALSE(fate_of(episodes, request(1, Purpose::kHeartbeat), at(1)).answered);
    EXPECT_TRUE(fate_of(episodes, request(1, Purpose::kLog), at(1)).answered);
    episodes.renewed(1, at(1));  // of before
    EXPECT_TRUE(fate_of(episodes, request(1, Purpose::kHeartbeat), at(1)).lands);
    const TrueTime after = TrueTime(plan.instance.lease.lease);
    episodes.renewed(2, after);  // another's
    EXPECT_TRUE(fate_of(episodes, request(1, Purpose::kHeartbeat), after).lands);
    episodes.renewed(1, after);
    EXPECT_FALSE(fate_of(episodes, request(1, Purpose::kHeartbeat), after).lands);
    EXPECT_TRUE(fate_of(episodes, request(2, Purpose::kHeartbeat), after).lands);
  }
}

TEST(StoreEpisodes, EndAtHealing) {
  StoreEpisodes episodes;
  Plan plan;
  Random random(1);
  episodes.strike(Fault::lease_stutter, 1, plan, at(0), random);
  episodes.strike(Fault::stale_watch, 1, plan, at(0), random);
  episodes.clear();
  episodes.renewed(1, at(100));
  EXPECT_TRUE(fate_of(episodes, request(1, Purpose::kHeartbeat), at(100)).lands);
  EXPECT_TRUE(fate_of(episodes, request(1, Purpose::kHeartbeat), at(1)).answered);
}

}  // namespace
}  // namespace morula::sim
