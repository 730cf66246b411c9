// Many fibers, any order, any cancellation: exclusion, order and no lost wake.
//
// Each property runs small programs under a scheduler whose order is drawn, while a driver cancels
// single fibers, stops and resumes one of two processes and crashes one. When nothing is ready any
// more, nobody may be left waiting for something that is there.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

#include "core/rt/random.hpp"
#include "core/rt/sync.hpp"
#include "tests/rt/manual_clock.hpp"

namespace morula {
namespace {

/// Two processes whose fibers meet in one primitive, and what may happen to them.
class Storm {
 public:
  explicit Storm(uint64_t seed) : random(seed), order_(random.next()), scheduler_(order_) {
    harsh_ = random.chance(1, 2);
  }
  ~Storm() {
    for (Domain* domain : {&first_, &second_}) domain->kill();
    scheduler_.run_ready();
  }

  template <class Body>
  void spawn(Body&& body) {
    scopes_.push_back(std::make_unique<Scope>(random.chance(1, 2) ? first_ : second_));
    scopes_.back()->spawn("actor", std::forward<Body>(body));
  }

  /// Runs until nothing is ready, with faults in between, `check` after each turn.
  template <class Check>
  void blow(Check check) {
    for (int turn = 0; turn < 400; ++turn) {
      scheduler_.run_ready(random.below(4));
      if (random.chance(1, 8)) scopes_[random.below(scopes_.size())]->cancel();
      if (random.chance(1, 8)) first_.pause();
      if (random.chance(1, 4)) first_.resume();
      if (harsh_ && random.chance(1, 100)) second_.kill();
      if (random.chance(1, 4)) clock.advance(Duration(random.below(5)));
      check();
    }
    settle();
    check();
  }
  /// Without further faults.
  void settle() {
    first_.resume();
    do {
      scheduler_.run_ready();
      clock.advance(Duration(100));
    } while (scheduler_.has_ready());
  }
  size_t live() const { return scheduler_.live(); }
  bool crashed() const { return second_.killed(); }

  Random random;
  ManualClock clock;

 private:
  Random order_;
  Scheduler scheduler_;
  Domain first_{scheduler_, "first"};
  Domain second_{scheduler_, "second"};
  std::vector<std::unique_ptr<Scope>> scopes_;
  bool harsh_;
};

/// Counts who is inside a block, however the block is left.
class Inside {
 public:
  explicit Inside(size_t& count) : count_(count) { ++count_; }
  ~Inside() { --count_; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  size_t& count_;
};

RC_GTEST_PROP(MutexProperty, ExcludesKeepsTheOrderAndLosesNoWake, (uint64_t seed)) {
  Mutex mutex;
  uint64_t last_ticket = 0;
  std::vector<uint64_t> served;
  size_t inside = 0;
  {
    Storm storm(seed);
    for (int i = 0; i < 8; ++i) {
      storm.spawn([&] {
        for (int round = 0; round < 4; ++round) {
          {
            const uint64_t ticket = ++last_ticket;
            const MutexLock lock(mutex);
            const Inside here(inside);
            served.push_back(ticket);
            for (uint64_t n = storm.random.below(3); n > 0; --n) yield();
            if (storm.random.chance(1, 4)) storm.clock.sleep(Duration(3));
          }
          if (storm.random.chance(1, 2)) yield();
        }
      });
    }
    storm.blow([&] { RC_ASSERT(inside <= 1u); });
    RC_ASSERT(storm.live() == 0u);
  }
  RC_ASSERT(!mutex.locked());
  RC_ASSERT(std::is_sorted(served.begin(), served.end()));
}

/// Fibers of a storm that take what `acquire` takes, hold it for a while and give it back.
template <class Semaphore>
void take_and_give(Semaphore& semaphore, uint64_t units, uint64_t seed,
                   const std::function<uint64_t(Storm&)>& acquire,
                   const std::function<void(uint64_t)>& release) {
  uint64_t taken = 0;
  {
    Storm storm(seed);
    for (int i = 0; i < 8; ++i) {
      storm.spawn([&] {
        for (int round = 0; round < 4; ++round) {
          struct Held {
            const std::function<void(uint64_t)>& release;
            uint64_t& taken;
            uint64_t units;
            ~Held() {
              taken -= units;
              release(units);
            }
          } held{release, taken, acquire(storm)};
          taken += held.units;
          for (uint64_t n = storm.random.below(3); n > 0; --n) yield();
        }
      });
    }
    storm.blow([&] { RC_ASSERT(taken + semaphore.available() <= units); });
    RC_ASSERT(storm.live() == 0u);
  }
  RC_ASSERT(semaphore.available() == units);
}

RC_GTEST_PROP(SemaphoreProperty, NeverGivesMoreThanItHasAndLosesNoUnit, (uint64_t seed)) {
  const uint64_t units = 1 + seed % 3;
  Semaphore semaphore(units);
  take_and_give(
      semaphore, units, seed,
      [&](Storm&) -> uint64_t {
        semaphore.acquire();
        return 1;
      },
      [&](uint64_t) { semaphore.release(); });
}

RC_GTEST_PROP(WeightedSemaphoreProperty, NeverGivesMoreThanItHasAndLosesNoUnit, (uint64_t seed)) {
  const uint64_t units = 1 + seed % 5;
  WeightedSemaphore semaphore(units);
  take_and_give(
      semaphore, units, seed,
      [&](Storm& storm) { return semaphore.acquire(storm.random.below(7)); },
      [&](uint64_t taken) { semaphore.release(taken); });
}

RC_GTEST_PROP(ChannelProperty, DeliversEachAcceptedValueOnceInOrder, (uint64_t seed)) {
  Channel<int> channel(1 + seed % 3);
  std::vector<int> accepted;
  std::vector<int> received;
  {
    Storm storm(seed);
    int next = 0;
    const uint64_t senders = storm.random.between(1, 5);
    const uint64_t receivers = storm.random.between(1, 5);
    for (uint64_t i = 0; i < senders; ++i) {
      storm.spawn([&] {
        for (int n = 0; n < 6; ++n) {
          const int value = next++;
          if (!channel.send(value)) return;
          accepted.push_back(value);
          if (storm.random.chance(1, 3)) yield();
        }
      });
    }
    for (uint64_t i = 0; i < receivers; ++i) {
      storm.spawn([&] {
        while (const auto value = channel.receive()) {
          received.push_back(*value);
          if (storm.random.chance(1, 3)) yield();
        }
      });
    }
    const auto is_prefix = [&] {
      RC_ASSERT(received.size() + channel.size() == accepted.size());
      RC_ASSERT(std::equal(received.begin(), received.end(), accepted.begin()));
    };
    storm.blow(is_prefix);
    channel.close();
    storm.settle();
    is_prefix();
    RC_ASSERT(storm.live() == 0u);
  }
}

RC_GTEST_PROP(ChannelProperty, IsNeverStuckWhileSomebodyIsLeftAtTheOtherEnd, (uint64_t seed)) {
  Storm storm(seed);
  Channel<int> channel(1 + seed % 2);
  size_t sending = 0;
  size_t receiving = 0;
  for (int i = 0; i < 5; ++i) {
    storm.spawn([&] {
      const Inside here(sending);
      for (int n = 0; n < 10; ++n) channel.send(n);
    });
    storm.spawn([&] {
      const Inside here(receiving);
      for (int n = 0; n < 10; ++n) channel.receive();
    });
  }
  storm.blow([] {});
  // With nothing ready: senders wait only for room, receivers only for values.
  RC_ASSERT(sending == 0u || channel.size() > 0u);
  RC_ASSERT(receiving == 0u || channel.size() == 0u);
  channel.close();
  storm.settle();
}

RC_GTEST_PROP(WaitListProperty, CountsEveryWakeAndDisarmsEveryTimer, (uint64_t seed)) {
  Storm storm(seed);
  WaitList list;
  size_t given = 0;
  size_t taken = 0;
  for (int i = 0; i < 8; ++i) {
    storm.spawn([&] {
      for (int round = 0; round < 10; ++round) {
        try {
          const auto deadline = storm.clock.now() + Duration(storm.random.below(6));
          if (list.wait_until(storm.clock, storm.random.chance(1, 4) ? kNever : deadline)) ++taken;
        } catch (const Cancelled& cancelled) {
          if (cancelled.woken) ++taken;
          throw;
        }
      }
    });
  }
  storm.blow([&] {
    if (storm.random.chance(1, 3) && list.wake_one()) ++given;
    RC_ASSERT(taken <= given);
  });
  RC_ASSERT(taken == given);
  while (storm.live() > 0) {
    list.wake_all();
    storm.settle();
  }
  RC_ASSERT(list.empty());
  RC_ASSERT(storm.clock.armed() == 0u);
}

}  // namespace
}  // namespace morula
