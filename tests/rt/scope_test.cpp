// Scopes: children never outlive them, however the block ends.
#include <memory>

#include "core/rt/sync.hpp"
#include "tests/rt/fiber_fixture.hpp"

namespace morula {
namespace {

using std::chrono::milliseconds;

using ScopeTest = FiberTest;

TEST_F(ScopeTest, JoinWaitsForEveryChildAndForThoseTheySpawn) {
  scope_.spawn("parent", [&] {
    Scope scope(domain_);
    scope.spawn("child", [&] {
      clock_.sleep(milliseconds(1));
      scope.spawn("late child", [&] {
        clock_.sleep(milliseconds(1));
        note("late child");
      });
      note("child");
    });
    scope.join();
    note("joined");
  });
  run();
  for (int i = 0; i < 2; ++i) {
    clock_.advance(milliseconds(1));
    run();
  }
  EXPECT_EQ(log_, (Log{"child", "late child", "joined"}));
}

TEST_F(ScopeTest, JoinOfAnEmptyScopeDoesNotSuspend) {
  scope_.cancel();
  scope_.spawn("parent", [&] {
    Scope(domain_).join();
    note("joined");
  });
  run();
  EXPECT_EQ(log_, Log{"joined"});
}

TEST_F(ScopeTest, SeveralMayJoin) {
  Scope joined(domain_);
  joined.spawn("child", [&] { clock_.sleep(milliseconds(1)); });
  for (const char* name : {"a", "b"}) {
    scope_.spawn(name, [&, name] {
      joined.join();
      note(name);
    });
  }
  run();
  clock_.advance(milliseconds(1));
  run();
  EXPECT_EQ(log_, (Log{"a", "b"}));
}

TEST_F(ScopeTest, ACancelledJoinLeavesTheChildrenAlone) {
  Scope joined(domain_);
  joined.spawn("child", [&] { noting("child", [&] { clock_.sleep(milliseconds(1)); }); });
  scope_.spawn("joiner", [&] { noting("joiner", [&] { joined.join(); }); });
  run();
  scope_.cancel();
  run();
  clock_.advance(milliseconds(1));
  run();
  EXPECT_EQ(log_, (Log{"joiner cancelled", "child ended"}));
}

TEST_F(ScopeTest, CloseCancelsTheChildrenAndWaits) {
  scope_.spawn("parent", [&] {
    Scope scope(domain_);
    for (const char* name : {"a", "b"}) {
      scope.spawn(name, [&, name] { noting(name, [&] { WaitList().wait(); }); });
    }
    yield();
    scope.close();
    note("closed");
  });
  run();
  EXPECT_EQ(log_, (Log{"b cancelled", "a cancelled", "closed"}));
}

TEST_F(ScopeTest, CloseWaitsForChildrenThatAreSpawnedMeanwhile) {
  scope_.spawn("parent", [&] {
    Scope scope(domain_);
    scope.spawn("child", [&] {
      try {
        WaitList().wait();
      } catch (const Cancelled&) {
        scope.spawn("spawned while closing", [&] {
          note("begun");
          noting("spawned", [&] { WaitList().wait(); });
        });
        throw;
      }
    });
    yield();
    scope.close();
    note("closed");
  });
  run();
  EXPECT_EQ(log_, (Log{"begun", "spawned cancelled", "closed"}));
}

TEST_F(ScopeTest, CloseOfACancelledCallerWaitsAllTheSameAndThrowsAtTheEnd) {
  scope_.spawn("parent", [&] {
    Scope scope(domain_);
    scope.spawn("child", [&] {
      const CancellationShield shield;
      clock_.sleep(milliseconds(1));
      note("child done");
    });
    yield();
    noting("close", [&] { scope.close(); });
  });
  run();
  scope_.cancel();
  run();
  EXPECT_TRUE(log_.empty());
  clock_.advance(milliseconds(1));
  run();
  EXPECT_EQ(log_, (Log{"child done", "close cancelled"}));
}

TEST_F(ScopeTest, CloseOfAShieldedCallerDoesNotThrow) {
  scope_.cancel();
  scope_.spawn("parent", [&] {
    Scope scope(domain_);
    scope.spawn("child", [] { WaitList().wait(); });
    const CancellationShield shield;
    scope.close();
    note("closed");
  });
  run();
  EXPECT_EQ(log_, Log{"closed"});
}

TEST_F(ScopeTest, AnEmptyScopeIsClosedOutsideFibersToo) {
  Scope scope(domain_);
  scope.close();
  scope.spawn("child", [&] { noting("child", [] { yield(); }); });
  run();
  EXPECT_EQ(log_, Log{"child cancelled"});
}

TEST_F(ScopeTest, WithScopeReturnsWhatItsBodyReturns) {
  scope_.spawn("parent", [&] {
    auto result = with_scope(domain_, [&](Scope& scope) {
      scope.spawn("child", [&] { note("child"); });
      scope.join();
      return std::make_unique<std::string>("result");
    });
    note(*result);
    with_scope(domain_, [&](Scope&) { note("void"); });
  });
  run();
  EXPECT_EQ(log_, (Log{"child", "result", "void"}));
}

TEST_F(ScopeTest, WithScopeCancelsTheChildrenThatItsBodyLeaves) {
  scope_.spawn("parent", [&] {
    const int result = with_scope(domain_, [&](Scope& scope) {
      scope.spawn("child", [&] { noting("child", [] { WaitList().wait(); }); });
      yield();
      return 3;
    });
    note(std::to_string(result));
  });
  run();
  EXPECT_EQ(log_, (Log{"child cancelled", "3"}));
}

TEST_F(ScopeTest, WithScopePassesAnExceptionOnAfterTheChildrenHaveEnded) {
  scope_.spawn("parent", [&] {
    try {
      with_scope(domain_, [&](Scope& scope) {
        scope.spawn("child", [&] {
          const CancellationShield shield;
          clock_.sleep(milliseconds(1));
          note("child done");
        });
        yield();
        throw std::runtime_error("thrown");
      });
    } catch (const std::runtime_error& error) {
      note(error.what());
    }
  });
  run();
  clock_.advance(milliseconds(1));
  run();
  EXPECT_EQ(log_, (Log{"child done", "thrown"}));
}

TEST_F(ScopeTest, CancellationGoesDownThroughNestedScopesAndComesBackUp) {
  scope_.spawn("outer", [&] {
    noting("outer", [&] {
      with_scope(domain_, [&](Scope& outer) {
        outer.spawn("middle", [&] {
          noting("middle", [&] {
            with_scope(domain_, [&](Scope& middle) {
              middle.spawn("inner", [&] { noting("inner", [] { WaitList().wait(); }); });
              middle.join();
            });
          });
        });
        outer.join();
      });
    });
  });
  run();
  scope_.cancel();
  run();
  EXPECT_EQ(log_, (Log{"inner cancelled", "middle cancelled", "outer cancelled"}));
}

TEST_F(ScopeTest, AChildMustNotCloseItsOwnScope) {
  const auto close_own = [&] {
    scope_.spawn("child", [&] { scope_.close(); });
    run();
  };
  EXPECT_DEATH(close_own(), "a child must not close its scope");
}

}  // namespace
}  // namespace morula
