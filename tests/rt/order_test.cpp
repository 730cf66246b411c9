// In simulation the seed decides which ready fiber runs next.
#include <set>

#include "core/rt/random.hpp"
#include "core/rt/sync.hpp"
#include "tests/rt/fiber_fixture.hpp"

namespace morula {
namespace {

using Log = std::vector<std::string>;

/// What a small world with waits, timers, a pause and a cancellation does under one seed.
Log history_of(uint64_t seed) {
  Log log;
  Random order(seed);
  Scheduler scheduler(order);
  ManualClock clock;
  Domain first(scheduler, "first");
  Domain second(scheduler, "second");
  Scope scope(first);
  Scope cancelled(first);
  Scope other(second);
  Mutex mutex;
  for (int i = 0; i < 10; ++i) {
    for (Scope* owner : {&scope, &cancelled, &other}) {
      const std::string name = owner->domain().name() + std::to_string(i);
      owner->spawn("worker", [&log, &mutex, &clock, name] {
        for (int round = 0; round < 3; ++round) {
          const MutexLock lock(mutex);
          log.push_back(name);
          yield();
          if (round == 1) clock.sleep(std::chrono::milliseconds(1));
        }
      });
    }
  }
  for (int turn = 0; scheduler.live() > 0; ++turn) {
    scheduler.run_ready(7);
    if (turn == 2) second.pause();
    if (turn == 4) cancelled.cancel();
    if (turn == 6) second.resume();
    if (turn == 9) first.kill();
    clock.advance(std::chrono::milliseconds(1));
  }
  return log;
}

TEST(FiberOrder, IsTheSameForTheSameSeed) {
  for (uint64_t seed = 0; seed < 20; ++seed) EXPECT_EQ(history_of(seed), history_of(seed));
}

TEST(FiberOrder, DiffersBetweenSeeds) {
  std::set<Log> histories;
  for (uint64_t seed = 0; seed < 20; ++seed) histories.insert(history_of(seed));
  EXPECT_EQ(histories.size(), 20u);
}

TEST(FiberOrder, ReachesEveryPermutation) {
  std::set<Log> orders;
  for (uint64_t seed = 0; seed < 500; ++seed) {
    Log log;
    Random order(seed);
    Scheduler scheduler(order);
    Domain domain(scheduler, "test");
    Scope scope(domain);
    for (const char* name : {"a", "b", "c", "d"}) {
      scope.spawn(name, [&log, name] { log.emplace_back(name); });
    }
    scheduler.run_ready();
    orders.insert(log);
  }
  EXPECT_EQ(orders.size(), 24u);
}

}  // namespace
}  // namespace morula
