// Cancellation: it arrives at every kind of suspension point, again at each later one, and takes no
// wake with it.
#include <functional>

#include "core/rt/sync.hpp"
#include "tests/rt/fiber_fixture.hpp"

namespace morula {
namespace {

using std::chrono::milliseconds;

using CancelTest = FiberTest;

/// One way to suspend, and what it suspends on.
struct Suspension {
  std::string name;
  std::function<void(ManualClock&)> suspend;
};

std::vector<Suspension> every_suspension() {
  return {
      {"WaitList::wait",
       [](ManualClock&) {
         WaitList list;
         list.wait();
       }},
      {"WaitList::wait_until",
       [](ManualClock& clock) {
         WaitList list;
         list.wait_until(clock, clock.now() + milliseconds(5));
       }},
      {"Clock::sleep", [](ManualClock& clock) { clock.sleep(milliseconds(5)); }},
      {"Mutex::lock",
       [](ManualClock&) {
         Mutex mutex;
         mutex.lock();
         mutex.lock();
       }},
      {"Semaphore::acquire", [](ManualClock&) { Semaphore(0).acquire(); }},
      {"WeightedSemaphore::acquire",
       [](ManualClock&) {
         WeightedSemaphore semaphore(3);
         semaphore.acquire(2);
         semaphore.acquire(2);
       }},
      {"Event::wait", [](ManualClock&) { Event().wait(); }},
      {"Event::wait_until",
       [](ManualClock& clock) { Event().wait_until(clock, clock.now() + milliseconds(5)); }},
      {"Channel::receive", [](ManualClock&) { Channel<int>(1).receive(); }},
      {"Channel::send",
       [](ManualClock&) {
         Channel<int> channel(1);
         channel.send(1);
         channel.send(2);
       }},
      {"Completion::wait", [](ManualClock&) { Completion<int>().wait(); }},
      {"Completion::wait_until",
       [](ManualClock& clock) {
         Completion<int>().wait_until(clock, clock.now() + milliseconds(5));
       }},
      {"Scope::join",
       [](ManualClock&) {
         with_scope(Domain::current(), [](Scope& scope) {
           scope.spawn("grandchild", [] { WaitList().wait(); });
           scope.join();
         });
       }},
      {"Scope::close",
       [](ManualClock& clock) {
         Scope scope(Domain::current());
         scope.spawn("grandchild", [&] {
           const CancellationShield shield;
           clock.sleep(milliseconds(5));
         });
         scope.close();
       }},
  };
}

TEST_F(CancelTest, ArrivesWhereTheFiberWaits) {
  for (const Suspension& point : every_suspension()) {
    SCOPED_TRACE(point.name);
    log_.clear();
    Scope scope(domain_);
    scope.spawn("child", [&] { noting("child", [&] { point.suspend(clock_); }); });
    run();
    EXPECT_TRUE(log_.empty());
    scope.cancel();
    run();
    clock_.advance(milliseconds(10));  // for what is shielded within
    run();
    EXPECT_EQ(log_, Log{"child cancelled"});
    EXPECT_EQ(scope.live(), 0u);
    EXPECT_EQ(clock_.armed(), 0u);
  }
}

TEST_F(CancelTest, ArrivesAtTheFirstSuspensionOfAChildThatIsBornCancelled) {
  for (const Suspension& point : every_suspension()) {
    SCOPED_TRACE(point.name);
    log_.clear();
    Scope scope(domain_);
    scope.cancel();
    scope.spawn("child", [&] {
      note("begun");
      noting("child", [&] { point.suspend(clock_); });
    });
    run();
    clock_.advance(milliseconds(10));  // for what is shielded within
    run();
    EXPECT_EQ(log_, (Log{"begun", "child cancelled"}));
    EXPECT_EQ(clock_.armed(), 0u);
  }
}

TEST_F(CancelTest, ArrivesAgainAtEachLaterSuspension) {
  scope_.spawn("child", [&] {
    noting("outer", [&] {
      try {
        WaitList().wait();
      } catch (const Cancelled&) {
        noting("second", [&] { clock_.sleep(milliseconds(1)); });
      }
    });
  });
  run();
  scope_.cancel();
  run();
  EXPECT_EQ(log_, (Log{"second cancelled", "outer cancelled"}));
}

TEST_F(CancelTest, ArrivesInAYieldingFiber) {
  scope_.spawn("child", [&] {
    noting("child", [&] {
      for (;;) yield();
    });
  });
  scheduler_.run_ready(3);
  scope_.cancel();
  run();
  EXPECT_EQ(log_, Log{"child cancelled"});
}

TEST_F(CancelTest, IsNoSuspensionPointWhereNothingHasToBeWaitedFor) {
  scope_.cancel();
  scope_.spawn("child", [&] {
    Mutex mutex;
    mutex.lock();
    Semaphore semaphore(1);
    semaphore.acquire();
    WeightedSemaphore(2).acquire(2);
    Channel<int> channel(1);
    channel.send(1);
    EXPECT_EQ(channel.receive(), 1);
    note("went through");
  });
  run();
  EXPECT_EQ(log_, Log{"went through"});
}

TEST_F(CancelTest, AfterAWakeItWaitsForTheNextSuspension) {
  WaitList list;
  scope_.spawn("child", [&] {
    noting("first", [&] { list.wait(); });
    noting("second", [&] { list.wait(); });
  });
  run();
  list.wake_one();
  scope_.cancel();
  run();
  EXPECT_EQ(log_, (Log{"first ended", "second cancelled"}));
}

TEST_F(CancelTest, BeforeAWakeLeavesTheWakeToTheNextWaiter) {
  WaitList list;
  Scope other(domain_);
  scope_.spawn("first", [&] { noting("first", [&] { list.wait(); }); });
  other.spawn("second", [&] { noting("second", [&] { list.wait(); }); });
  run();
  scope_.cancel();
  EXPECT_TRUE(list.wake_one());
  EXPECT_TRUE(list.empty());
  run();
  EXPECT_EQ(log_, (Log{"first cancelled", "second ended"}));
}

TEST_F(CancelTest, InTheMiddleOfAListKeepsTheOthersInOrder) {
  WaitList list;
  Scope middle(domain_);
  scope_.spawn("a", [&] { noting("a", [&] { list.wait(); }); });
  middle.spawn("b", [&] { noting("b", [&] { list.wait(); }); });
  scope_.spawn("c", [&] { noting("c", [&] { list.wait(); }); });
  run();
  middle.cancel();
  list.wake_one();
  list.wake_one();
  run();
  EXPECT_EQ(log_, (Log{"b cancelled", "a ended", "c ended"}));
}

TEST_F(CancelTest, AfterATimeoutItWaitsForTheNextSuspension) {
  scope_.spawn("child", [&] {
    WaitList list;
    note(list.wait_until(clock_, clock_.now() + milliseconds(1)) ? "woken" : "late");
    noting("second", [&] { list.wait(); });
  });
  run();
  clock_.advance(milliseconds(1));
  scope_.cancel();
  run();
  EXPECT_EQ(log_, (Log{"late", "second cancelled"}));
}

TEST_F(CancelTest, IsHeldBackByAShieldUntilTheFirstSuspensionAfterIt) {
  WaitList list;
  scope_.spawn("child", [&] {
    {
      const CancellationShield shield;
      {
        const CancellationShield inner;
        noting("inner", [&] { list.wait(); });
      }
      noting("shielded", [&] { list.wait(); });
    }
    note("between");
    noting("bare", [&] { list.wait(); });
  });
  run();
  scope_.cancel();
  run();
  EXPECT_TRUE(log_.empty());
  list.wake_one();
  run();
  list.wake_one();
  run();
  EXPECT_EQ(log_, (Log{"inner ended", "shielded ended", "between", "bare cancelled"}));
}

TEST_F(CancelTest, LetsCleanUpBehindAShieldSuspend) {
  scope_.spawn("child", [&] {
    try {
      WaitList().wait();
    } catch (const Cancelled&) {
      const CancellationShield shield;
      clock_.sleep(milliseconds(1));
      note("cleaned up");
      throw;
    }
  });
  run();
  scope_.cancel();
  run();
  clock_.advance(milliseconds(1));
  run();
  EXPECT_EQ(log_, Log{"cleaned up"});
}

TEST_F(CancelTest, OfTheOwnScopeReachesTheCallerAtItsNextSuspension) {
  scope_.spawn("child", [&] {
    scope_.cancel();
    note("goes on");
    noting("child", [&] { WaitList().wait(); });
  });
  run();
  EXPECT_EQ(log_, (Log{"goes on", "child cancelled"}));
}

TEST_F(CancelTest, OfManyWaitersOfOneListLeavesItEmpty) {
  WaitList list;
  for (int i = 0; i < 100; ++i) {
    scope_.spawn("child", [&] { list.wait_until(clock_, clock_.now() + milliseconds(5)); });
  }
  run();
  EXPECT_EQ(clock_.armed(), 100u);
  scope_.cancel();
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(clock_.armed(), 0u);
  run();
  EXPECT_EQ(scope_.live(), 0u);
}

}  // namespace
}  // namespace morula
