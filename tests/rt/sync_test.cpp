#include "core/rt/sync.hpp"

#include <memory>

#include "tests/rt/fiber_fixture.hpp"

namespace morula {
namespace {

using std::chrono::milliseconds;

using SyncTest = FiberTest;

TEST_F(SyncTest, AMutexIsHeldByOneAndGoesToTheNextInLine) {
  Mutex mutex;
  WaitList hold;
  for (const char* name : {"a", "b", "c"}) {
    scope_.spawn(name, [&, name] {
      const MutexLock lock(mutex);
      note(name);
      hold.wait();
    });
  }
  run();
  EXPECT_EQ(log_, Log{"a"});
  hold.wake_one();
  run();
  hold.wake_one();
  run();
  EXPECT_EQ(log_, (Log{"a", "b", "c"}));
  EXPECT_TRUE(mutex.locked());
  hold.wake_one();
  run();
  EXPECT_FALSE(mutex.locked());
}

TEST_F(SyncTest, AnUnlockedMutexWithWaitersIsNotFreeForOthers) {
  Mutex mutex;
  ASSERT_TRUE(mutex.try_lock());
  scope_.spawn("waiter", [&] {
    const MutexLock lock(mutex);
    note("waiter");
  });
  run();
  mutex.unlock();
  EXPECT_FALSE(mutex.try_lock());
  run();
  EXPECT_TRUE(mutex.try_lock());
  mutex.unlock();
}

TEST_F(SyncTest, ALockMayBeGivenUpEarly) {
  Mutex mutex;
  scope_.spawn("child", [&] {
    MutexLock lock(mutex);
    lock.unlock();
    EXPECT_FALSE(mutex.locked());
    lock.unlock();
  });
  run();
}

TEST_F(SyncTest, AFiberThatIsCancelledOnceTheLockIsItsOwnHasIt) {
  Mutex mutex;
  ASSERT_TRUE(mutex.try_lock());
  scope_.spawn("waiter", [&] {
    const MutexLock lock(mutex);
    note("locked");
    noting("next wait", [] { WaitList().wait(); });
  });
  run();
  mutex.unlock();
  scope_.cancel();
  run();
  EXPECT_EQ(log_, (Log{"locked", "next wait cancelled"}));
  EXPECT_FALSE(mutex.locked());
}

/// Somebody in a domain that is killed, and somebody in another who waits behind it.
class KilledOnTheWay : public FiberTest {
 protected:
  /// Both wait; `give` lets the first one through; before it runs its domain is killed.
  template <class Wait, class Give>
  void go(Wait wait, Give give) {
    scope_.spawn("first", [&] { noting("first", wait); });
    others_.spawn("second", [&] { noting("second", wait); });
    run();
    others_.spawn("giver", give);
    domain_.pause();  // so that the first does not run before the kill
    run();
    EXPECT_TRUE(log_.empty());
    domain_.kill();
    run();
    EXPECT_EQ(log_, (Log{"first cancelled", "second ended"}));
  }

  Domain other_{scheduler_, "other"};
  Scope others_{other_};
};

TEST_F(KilledOnTheWay, ALockGoesToTheNext) {
  Mutex mutex;
  ASSERT_TRUE(mutex.try_lock());
  go([&] { mutex.lock(); }, [&] { mutex.unlock(); });
  mutex.unlock();
}

TEST_F(KilledOnTheWay, AUnitGoesToTheNext) {
  Semaphore semaphore(0);
  go([&] { semaphore.acquire(); }, [&] { semaphore.release(); });
}

TEST_F(KilledOnTheWay, AReceivedValueGoesToTheNext) {
  Channel<int> channel(1);
  go([&] { EXPECT_EQ(channel.receive(), 3); }, [&] { channel.send(3); });
}

TEST_F(KilledOnTheWay, RoomInAChannelGoesToTheNext) {
  Channel<int> channel(1);
  scope_.spawn("filler", [&] { channel.send(0); });
  run();
  go([&] { channel.send(1); }, [&] { channel.receive(); });
}

TEST_F(SyncTest, ASemaphoreGivesItsUnitsInOrderOfArrival) {
  Semaphore semaphore(2);
  for (const char* name : {"a", "b", "c", "d"}) {
    scope_.spawn(name, [&, name] {
      semaphore.acquire();
      note(name);
    });
  }
  run();
  EXPECT_EQ(log_, (Log{"a", "b"}));
  EXPECT_FALSE(semaphore.try_acquire());
  semaphore.release();
  EXPECT_EQ(semaphore.available(), 0u) << "the unit is c's";
  semaphore.release();
  semaphore.release();
  EXPECT_EQ(semaphore.available(), 1u);
  run();
  EXPECT_EQ(log_, (Log{"a", "b", "c", "d"}));
  EXPECT_TRUE(semaphore.try_acquire());
}

TEST_F(SyncTest, ALargeWantIsNotPassedBySmallOnes) {
  WeightedSemaphore semaphore(10);
  const auto want = [&](const char* name, uint64_t units) {
    scope_.spawn(name, [&semaphore, this, name, units] {
      semaphore.acquire(units);
      note(name);
    });
  };
  want("six", 6);
  want("five", 5);
  want("one", 1);
  run();
  EXPECT_EQ(log_, Log{"six"}) << "one would fit, but five was there before";
  semaphore.release(6);
  run();
  EXPECT_EQ(log_, (Log{"six", "five", "one"}));
  EXPECT_EQ(semaphore.available(), 4u);
}

TEST_F(SyncTest, WhoWantsMoreThanThereIsGetsAllOfIt) {
  WeightedSemaphore semaphore(10);
  scope_.spawn("small", [&] { EXPECT_EQ(semaphore.acquire(1), 1u); });
  scope_.spawn("huge", [&] {
    EXPECT_EQ(semaphore.acquire(1000), 10u);
    note("alone");
  });
  run();
  EXPECT_EQ(log_, Log{});
  semaphore.release(1);
  run();
  EXPECT_EQ(log_, Log{"alone"});
  EXPECT_EQ(semaphore.available(), 0u);
}

TEST_F(SyncTest, AnEventOpensForAllAndStaysOpen) {
  Event event;
  for (const char* name : {"a", "b"}) {
    scope_.spawn(name, [&, name] {
      event.wait();
      note(name);
    });
  }
  scope_.spawn("impatient", [&] {
    note(event.wait_until(clock_, clock_.now() + milliseconds(1)) ? "set" : "not set");
  });
  run();
  clock_.advance(milliseconds(1));
  run();
  event.set();
  scope_.spawn("late", [&] {
    EXPECT_TRUE(event.wait_until(clock_, clock_.now()));
    event.wait();
    note("late");
  });
  run();
  EXPECT_EQ(log_, (Log{"not set", "a", "b", "late"}));
}

TEST_F(SyncTest, AChannelHoldsItsCapacityAndKeepsTheOrder) {
  Channel<int> channel(2);
  scope_.spawn("sender", [&] {
    for (int i = 0; i < 5; ++i) {
      EXPECT_TRUE(channel.send(i));
      note("sent " + std::to_string(i));
    }
  });
  run();
  EXPECT_EQ(log_, (Log{"sent 0", "sent 1"}));
  EXPECT_EQ(channel.size(), 2u);
  scope_.spawn("receiver", [&] {
    for (int i = 0; i < 5; ++i) EXPECT_EQ(channel.receive(), i);
    note("received all");
  });
  run();
  EXPECT_EQ(log_.back(), "received all");
}

TEST_F(SyncTest, AClosedChannelIsDrainedAndRefusesSenders) {
  Channel<std::unique_ptr<int>> channel(1);
  scope_.spawn("sender", [&] {
    EXPECT_TRUE(channel.send(std::make_unique<int>(1)));
    EXPECT_FALSE(channel.send(std::make_unique<int>(2)));
    note("refused");
  });
  run();
  channel.close();
  scope_.spawn("receiver", [&] {
    EXPECT_EQ(**channel.receive(), 1);
    EXPECT_EQ(channel.receive(), std::nullopt);
    note("drained");
  });
  run();
  EXPECT_EQ(log_, (Log{"refused", "drained"}));
}

TEST_F(SyncTest, ClosingAChannelWakesItsReceivers) {
  Channel<int> channel(1);
  for (int i = 0; i < 2; ++i) {
    scope_.spawn("receiver", [&] {
      EXPECT_EQ(channel.receive(), std::nullopt);
      note("done");
    });
  }
  run();
  channel.close();
  run();
  EXPECT_EQ(log_.size(), 2u);
}

TEST_F(SyncTest, ACompletionTakesTheFirstAnswer) {
  Completion<std::string> answer;
  scope_.spawn("waiter", [&] { note(answer.wait()); });
  run();
  EXPECT_FALSE(answer.completed());
  answer.complete("first");
  answer.complete("second");
  run();
  EXPECT_EQ(log_, Log{"first"});
}

TEST_F(SyncTest, ACompletionsAnswerMayComeBeforeAnybodyWaits) {
  Completion<int> answer;
  answer.complete(1);
  scope_.spawn("waiter", [&] {
    EXPECT_EQ(answer.wait_until(clock_, clock_.now()), 1);
    note("had it");
  });
  run();
  EXPECT_EQ(log_, Log{"had it"});
}

TEST_F(SyncTest, ACompletionThatIsTooLateGoesNowhere) {
  std::optional<Completion<int>> outside;
  scope_.spawn("waiter", [&] {
    Completion<int> answer;
    outside.emplace(answer);
    EXPECT_EQ(answer.wait_until(clock_, clock_.now() + milliseconds(1)), std::nullopt);
    note("late");
  });
  run();
  clock_.advance(milliseconds(1));
  run();
  outside->complete(1);
  EXPECT_EQ(log_, Log{"late"});
}

TEST_F(SyncTest, ACompletionWhoseWaiterWasCancelledGoesNowhere) {
  std::optional<Completion<int>> outside;
  scope_.spawn("waiter", [&] {
    Completion<int> answer;
    outside.emplace(answer);
    noting("waiter", [&] { answer.wait(); });
  });
  run();
  scope_.cancel();
  outside->complete(1);
  run();
  EXPECT_EQ(log_, Log{"waiter cancelled"});
}

}  // namespace
}  // namespace morula
