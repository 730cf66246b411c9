#include "core/rt/fiber.hpp"

#include <memory>

#include "core/rt/sync.hpp"
#include "tests/rt/fiber_fixture.hpp"

namespace morula {
namespace {

using std::chrono::milliseconds;

TEST_F(FiberTest, AChildRunsWhenTheSchedulerPicksItAndNotBefore) {
  scope_.spawn("child", [&] { note("ran"); });
  EXPECT_TRUE(log_.empty());
  EXPECT_EQ(scope_.live(), 1u);
  EXPECT_TRUE(scheduler_.has_ready());
  EXPECT_TRUE(scheduler_.run_one());
  EXPECT_EQ(log_, Log{"ran"});
  EXPECT_EQ(scope_.live(), 0u);
  EXPECT_EQ(domain_.live(), 0u);
  EXPECT_EQ(scheduler_.live(), 0u);
  EXPECT_FALSE(scheduler_.run_one());
}

TEST_F(FiberTest, ReadyFibersTakeTurns) {
  for (const char* name : {"a", "b"}) {
    scope_.spawn(name, [&, name] {
      for (int i = 0; i < 2; ++i) {
        note(name + std::to_string(i));
        yield();
      }
    });
  }
  run();
  EXPECT_EQ(log_, (Log{"a0", "b0", "a1", "b1"}));
}

TEST_F(FiberTest, RunReadyStopsAtItsLimit) {
  for (int i = 0; i < 5; ++i) scope_.spawn("child", [&] { note("ran"); });
  EXPECT_EQ(scheduler_.run_ready(3), 3u);
  EXPECT_EQ(log_.size(), 3u);
  EXPECT_EQ(scheduler_.run_ready(), 2u);
}

TEST_F(FiberTest, ABodyThatIsMovedInMayBeMoveOnlyAndDiesOnItsStack) {
  auto token = std::make_shared<int>(7);
  std::weak_ptr<int> watch = token;
  auto only = std::make_unique<std::shared_ptr<int>>(std::move(token));
  scope_.spawn("child", [this, only = std::move(only)] { note(std::to_string(**only)); });
  EXPECT_FALSE(watch.expired());
  run();
  EXPECT_EQ(log_, Log{"7"});
  EXPECT_TRUE(watch.expired());
}

TEST_F(FiberTest, ABodyThatIsAnLvalueIsCopied) {
  auto text = std::make_shared<std::string>("kept");
  const auto body = [this, text] { note(*text); };
  auto changing = body;
  scope_.spawn("const", body);
  scope_.spawn("lvalue", changing);
  scope_.spawn("lvalue again", changing);
  run();
  EXPECT_EQ(log_, (Log{"kept", "kept", "kept"}));
}

TEST_F(FiberTest, AnOveralignedBodyLiesAligned) {
  struct alignas(128) Wide {
    FiberTest* test;
    void operator()() const {
      EXPECT_EQ(reinterpret_cast<uintptr_t>(this) % 128, 0u);
      alignas(64) char local[64];
      EXPECT_EQ(reinterpret_cast<uintptr_t>(&local) % 64, 0u);
    }
  };
  scope_.spawn("wide", Wide{this});
  run();
}

TEST_F(FiberTest, ABodyThatThrowsWhileItIsCopiedStartsNoFiber) {
  struct Stubborn {
    Stubborn() = default;
    Stubborn(const Stubborn&) { throw std::runtime_error("no"); }
    void operator()() const {}
  };
  Stubborn body;
  EXPECT_THROW(scope_.spawn("stubborn", body), std::runtime_error);
  EXPECT_EQ(scope_.live(), 0u);
  scope_.spawn("next", [&] { note("ran"); });
  run();
  EXPECT_EQ(log_, Log{"ran"});
}

TEST_F(FiberTest, ASleepEndsAtItsTime) {
  scope_.spawn("sleeper", [&] {
    clock_.sleep(milliseconds(5));
    note("awake");
  });
  run();
  clock_.advance(milliseconds(4));
  run();
  EXPECT_TRUE(log_.empty());
  clock_.advance(milliseconds(1));
  run();
  EXPECT_EQ(log_.size(), 1u);
}

TEST_F(FiberTest, ASleepUntilThePastLetsOthersRunFirst) {
  scope_.spawn("sleeper", [&] {
    clock_.sleep_until(clock_.now() - milliseconds(1));
    note("sleeper");
  });
  scope_.spawn("other", [&] { note("other"); });
  run();
  clock_.advance(milliseconds(0));
  run();
  EXPECT_EQ(log_, (Log{"other", "sleeper"}));
}

TEST_F(FiberTest, WaitersAreWokenInTheOrderInWhichTheyCame) {
  WaitList list;
  for (const char* name : {"a", "b", "c"}) {
    scope_.spawn(name, [&, name] {
      list.wait();
      note(name);
    });
  }
  run();
  EXPECT_TRUE(list.wake_one());
  run();
  EXPECT_EQ(log_, Log{"a"});
  list.wake_all();
  EXPECT_TRUE(list.empty());
  EXPECT_FALSE(list.wake_one());
  run();
  EXPECT_EQ(log_, (Log{"a", "b", "c"}));
}

TEST_F(FiberTest, AWakeBeforeTheDeadlineDisarmsTheTimer) {
  WaitList list;
  scope_.spawn("waiter", [&] {
    note(list.wait_until(clock_, clock_.now() + milliseconds(5)) ? "woken" : "late");
    note(list.wait_until(clock_, clock_.now() + milliseconds(5)) ? "woken" : "late");
  });
  run();
  list.wake_one();
  EXPECT_EQ(clock_.armed(), 0u);
  run();
  EXPECT_EQ(clock_.armed(), 1u);
  clock_.advance(milliseconds(5));
  EXPECT_TRUE(list.empty());
  EXPECT_FALSE(list.wake_one());
  run();
  EXPECT_EQ(log_, (Log{"woken", "late"}));
}

TEST_F(FiberTest, AWaitWithoutDeadlineArmsNoTimer) {
  WaitList list;
  scope_.spawn("waiter", [&] { EXPECT_TRUE(list.wait_until(clock_, kNever)); });
  run();
  EXPECT_EQ(clock_.armed(), 0u);
  list.wake_one();
  run();
}

TEST_F(FiberTest, WhichDomainRunsIsKnownToItsFibers) {
  Domain other(scheduler_, "other");
  Scope others(other);
  others.spawn("child", [&] { note(Domain::current().name()); });
  scope_.spawn("child", [&] { note(Domain::current().name()); });
  EXPECT_EQ(other.live(), 1u);
  EXPECT_EQ(scheduler_.live(), 2u);
  run();
  EXPECT_EQ(log_, (Log{"other", "test"}));
}

using FiberDeathTest = FiberTest;

TEST_F(FiberDeathTest, AnExceptionThatLeavesABodyAbortsAndNamesTheFiber) {
  const auto throw_in_fiber = [&] {
    scope_.spawn("thrower", [] { throw std::runtime_error("nobody expects this"); });
    run();
  };
  EXPECT_DEATH(throw_in_fiber(), "nobody expects this");
  EXPECT_DEATH(throw_in_fiber(), "thrower");
}

TEST_F(FiberDeathTest, WaitingOutsideFibersAborts) {
  WaitList list;
  EXPECT_DEATH(list.wait(), "only a fiber can do this");
  EXPECT_DEATH(yield(), "only a fiber can do this");
}

TEST_F(FiberDeathTest, SuspendingWhileAnExceptionUnwindsAborts) {
  struct SuspendsInDestructor {
    ~SuspendsInDestructor() {
      try {
        yield();
      } catch (const Cancelled&) {
      }
    }
  };
  const auto cancel_it = [&] {
    scope_.spawn("child", [] {
      SuspendsInDestructor guard;
      WaitList().wait();
    });
    run();
    scope_.cancel();
    run();
  };
  EXPECT_DEATH(cancel_it(), "no suspension while an exception unwinds");
}

TEST_F(FiberDeathTest, WhatFibersStillUseMustNotBeDestroyed) {
  const auto leave = [&](auto destroy) {
    auto scheduler = std::make_unique<Scheduler>();
    auto domain = std::make_unique<Domain>(*scheduler, "left");
    auto scope = std::make_unique<Scope>(*domain);
    auto list = std::make_unique<WaitList>();
    scope->spawn("waiter", [&] { list->wait(); });
    scheduler->run_ready();
    destroy(scheduler, domain, scope, list);
  };
  EXPECT_DEATH(leave([](auto& s, auto&, auto&, auto&) { s.reset(); }), "outlives its scheduler");
  EXPECT_DEATH(leave([](auto&, auto& d, auto&, auto&) { d.reset(); }), "outlives its domain");
  EXPECT_DEATH(leave([](auto&, auto&, auto& s, auto&) { s.reset(); }), "outlives its scope");
  EXPECT_DEATH(leave([](auto&, auto&, auto&, auto& l) { l.reset(); }), "still waits here");
}

TEST_F(FiberDeathTest, AFiberMustNotRunFibers) {
  const auto nest = [&] {
    scope_.spawn("outer", [&] {
      scope_.spawn("inner", [] {});
      run();
    });
    run();
  };
  EXPECT_DEATH(nest(), "must not run other fibers");
}

}  // namespace
}  // namespace morula
