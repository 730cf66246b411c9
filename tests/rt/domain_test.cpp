// Domains: a process that is stopped for a while, and one that crashes.
#include <functional>

#include "core/rt/sync.hpp"
#include "tests/rt/fiber_fixture.hpp"

namespace morula {
namespace {

using std::chrono::milliseconds;

using DomainTest = FiberTest;

TEST_F(DomainTest, APausedDomainsFibersDoNotRun) {
  Domain other(scheduler_, "other");
  Scope others(other);
  scope_.spawn("paused", [&] { note("paused"); });
  others.spawn("other", [&] { note("other"); });
  domain_.pause();
  scope_.spawn("spawned while paused", [&] { note("spawned while paused"); });
  run();
  EXPECT_EQ(log_, Log{"other"});
  EXPECT_FALSE(scheduler_.has_ready());
  domain_.resume();
  EXPECT_TRUE(scheduler_.has_ready());
  run();
  EXPECT_EQ(log_, (Log{"other", "paused", "spawned while paused"}));
}

TEST_F(DomainTest, WakesTimersAndCancellationsOfAPausedDomainAreKept) {
  WaitList list;
  Scope cancelled(domain_);
  scope_.spawn("woken", [&] { noting("woken", [&] { list.wait(); }); });
  scope_.spawn("sleeper", [&] { noting("sleeper", [&] { clock_.sleep(milliseconds(1)); }); });
  cancelled.spawn("cancelled", [&] { noting("waiter", [&] { WaitList().wait(); }); });
  run();
  domain_.pause();
  EXPECT_TRUE(domain_.paused());
  cancelled.cancel();
  clock_.advance(milliseconds(1));
  list.wake_one();
  run();
  EXPECT_TRUE(log_.empty());
  domain_.resume();
  run();
  EXPECT_EQ(log_, (Log{"waiter cancelled", "sleeper ended", "woken ended"}));
}

TEST_F(DomainTest, AFiberMayPauseItsOwnDomain) {
  scope_.spawn("child", [&] {
    domain_.pause();
    note("until the next suspension");
    yield();
    note("after");
  });
  run();
  EXPECT_EQ(log_.size(), 1u);
  domain_.resume();
  run();
  EXPECT_EQ(log_.size(), 2u);
}

TEST_F(DomainTest, PausingTwiceIsPausingOnce) {
  scope_.spawn("child", [&] { note("ran"); });
  domain_.pause();
  domain_.pause();
  domain_.resume();
  domain_.resume();
  run();
  EXPECT_EQ(log_, Log{"ran"});
}

TEST_F(DomainTest, AKillReachesEveryWait) {
  WaitList list;
  Mutex mutex;
  Event event;
  const std::vector<std::function<void()>> waits = {
      [&] { list.wait(); },
      [&] { clock_.sleep(milliseconds(1)); },
      [&] {
        mutex.lock();
        mutex.lock();
      },
      [&] { event.wait_until(clock_, clock_.now() + milliseconds(1)); },
      [&] {
        for (;;) yield();
      },
      [&] {
        const CancellationShield shield;
        list.wait();
      },
  };
  for (const auto& wait : waits) {
    scope_.spawn("waiter", [&] { noting("waiter", wait); });
  }
  scheduler_.run_ready(20);
  domain_.kill();
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(clock_.armed(), 0u);
  run();
  EXPECT_EQ(log_, Log(waits.size(), "waiter cancelled"));
  EXPECT_EQ(domain_.live(), 0u);
}

TEST_F(DomainTest, AKillReachesAPausedDomain) {
  WaitList list;
  scope_.spawn("waiter", [&] { noting("waiter", [&] { list.wait(); }); });
  scope_.spawn("woken", [&] { noting("woken", [&] { list.wait(); }); });
  run();
  domain_.pause();
  list.wake_one();
  domain_.kill();
  EXPECT_FALSE(domain_.paused());
  run();
  EXPECT_EQ(log_, (Log{"waiter cancelled", "woken cancelled"}));
  domain_.pause();
  EXPECT_FALSE(domain_.paused());
}

TEST_F(DomainTest, WhatHasNotBegunNeverDoesAfterAKill) {
  auto token = std::make_shared<int>(1);
  std::weak_ptr<int> watch = token;
  scope_.spawn("not begun", [this, token = std::move(token)] { note("ran"); });
  domain_.kill();
  scope_.spawn("spawned later", [&] { note("ran"); });
  run();
  EXPECT_TRUE(log_.empty());
  EXPECT_TRUE(watch.expired());
  EXPECT_EQ(domain_.live(), 0u);
}

TEST_F(DomainTest, AWokenFiberOfAKilledDomainIsCancelledAllTheSame) {
  WaitList list;
  scope_.spawn("woken", [&] {
    try {
      list.wait();
      note("went on");
    } catch (const Cancelled& cancelled) {
      note(cancelled.woken ? "cancelled after the wake" : "cancelled");
      throw;
    }
  });
  run();
  list.wake_one();
  domain_.kill();
  run();
  EXPECT_EQ(log_, Log{"cancelled after the wake"});
}

TEST_F(DomainTest, EachLaterSuspensionAfterAKillThrowsAtOnceAlsoBehindAShield) {
  scope_.spawn("child", [&] {
    try {
      WaitList().wait();
    } catch (const Cancelled&) {
      const CancellationShield shield;
      for (int i = 0; i < 3; ++i) {
        try {
          clock_.sleep(milliseconds(1));
          note("slept");
        } catch (const Cancelled&) {
          note("threw");
        }
      }
      throw;
    }
  });
  run();
  domain_.kill();
  EXPECT_EQ(scheduler_.run_ready(), 1u);
  EXPECT_EQ(log_, (Log{"threw", "threw", "threw"}));
}

TEST_F(DomainTest, AKillWhileChildrenWaitInNestedScopesEndsThemBeforeTheirParents) {
  scope_.spawn("parent", [&] {
    noting("parent", [&] {
      with_scope(domain_, [&](Scope& scope) {
        for (const char* name : {"a", "b"}) {
          scope.spawn(name, [&, name] {
            noting(name, [&] {
              with_scope(domain_, [&](Scope& inner) {
                inner.spawn("leaf", [&] { noting("leaf", [] { WaitList().wait(); }); });
                WaitList().wait();
              });
            });
          });
        }
        scope.join();
      });
    });
  });
  run();
  EXPECT_EQ(domain_.live(), 5u);
  domain_.kill();
  run();
  ASSERT_EQ(log_.size(), 5u);
  EXPECT_EQ(log_.back(), "parent cancelled");
  EXPECT_EQ(domain_.live(), 0u);
}

TEST_F(DomainTest, AKillWhileAScopeClosesWaitsForItsChildren) {
  scope_.spawn("parent", [&] {
    Scope scope(domain_);
    scope.spawn("child", [&] {
      const CancellationShield shield;
      noting("child", [&] { clock_.sleep(milliseconds(1)); });
    });
    yield();
    noting("close", [&] { scope.close(); });
  });
  run();
  EXPECT_EQ(domain_.live(), 2u);
  domain_.kill();
  run();
  EXPECT_EQ(log_, (Log{"child cancelled", "close cancelled"}));
}

TEST_F(DomainTest, AnUncancellableWaitSurvivesCancellationAndKill) {
  WaitList list;
  Completion<int> answer;
  scope_.spawn("list", [&] { noting("list", [&] { list.wait_uncancellable(); }); });
  scope_.spawn("answer", [&] {
    noting("answer", [&] { note(std::to_string(answer.wait_uncancellable())); });
  });
  run();
  scope_.cancel();
  domain_.kill();
  run();
  EXPECT_TRUE(log_.empty());
  list.wake_one();
  answer.complete(5);
  run();
  EXPECT_EQ(log_, (Log{"list ended", "5", "answer ended"}));
}

TEST_F(DomainTest, AKillLeavesOtherDomainsAlone) {
  Domain other(scheduler_, "other");
  Scope others(other);
  WaitList list;
  scope_.spawn("killed", [&] { noting("killed", [&] { list.wait(); }); });
  others.spawn("survivor", [&] { noting("survivor", [&] { list.wait(); }); });
  run();
  others.spawn("killer", [&] { domain_.kill(); });
  run();
  EXPECT_TRUE(domain_.killed());
  EXPECT_FALSE(other.killed());
  EXPECT_EQ(log_, Log{"killed cancelled"});
  list.wake_one();
  run();
  EXPECT_EQ(log_, (Log{"killed cancelled", "survivor ended"}));
}

TEST_F(DomainTest, ADomainMustNotBeKilledByItsOwnFiber) {
  const auto suicide = [&] {
    scope_.spawn("child", [&] { domain_.kill(); });
    run();
  };
  EXPECT_DEATH(suicide(), "own fiber must not kill it");
}

}  // namespace
}  // namespace morula
