// Exceptions in flight while fibers switch: each fiber has its own.
#include <exception>
#include <stdexcept>

#include "core/rt/sync.hpp"
#include "tests/rt/fiber_fixture.hpp"

namespace morula {
namespace {

using ExceptionTest = FiberTest;

TEST_F(ExceptionTest, AFiberMayThrowAndCatchWhileAnotherIsInsideACatchBlock) {
  WaitList list;
  scope_.spawn("suspended in catch", [&] {
    try {
      throw std::runtime_error("first");
    } catch (const std::runtime_error& error) {
      list.wait();
      note(error.what());
      try {
        throw;
      } catch (const std::runtime_error& again) {
        note(std::string("rethrown ") + again.what());
      }
    }
    EXPECT_EQ(std::current_exception(), nullptr);
  });
  scope_.spawn("thrower", [&] {
    EXPECT_EQ(std::current_exception(), nullptr);
    try {
      throw std::runtime_error("second");
    } catch (const std::runtime_error& error) {
      list.wake_one();
      yield();
      note(error.what());
    }
    EXPECT_EQ(std::current_exception(), nullptr);
  });
  run();
  EXPECT_EQ(std::current_exception(), nullptr);
  EXPECT_EQ(log_, (Log{"first", "rethrown first", "second"}));
}

TEST_F(ExceptionTest, CatchBlocksOfManyFibersEndInAnyOrder) {
  constexpr int kFibers = 50;
  std::vector<WaitList> lists(kFibers);
  for (int i = 0; i < kFibers; ++i) {
    scope_.spawn("nested", [&, i] {
      try {
        throw i;
      } catch (int outer) {
        try {
          throw std::to_string(i);
        } catch (const std::string& inner) {
          lists[static_cast<size_t>(i)].wait();
          note(inner);
        }
        lists[static_cast<size_t>(i)].wait();
        EXPECT_EQ(outer, i);
        EXPECT_THROW(std::rethrow_exception(std::current_exception()), int);
      }
      EXPECT_EQ(std::current_exception(), nullptr);
    });
  }
  run();
  // Every other one from the front, the rest from the back.
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < kFibers; i += 2) lists[static_cast<size_t>(i)].wake_one();
    run();
    for (int i = kFibers - 1; i > 0; i -= 2) lists[static_cast<size_t>(i)].wake_one();
    run();
  }
  EXPECT_EQ(log_.size(), static_cast<size_t>(kFibers));
  EXPECT_EQ(scope_.live(), 0u);
}

TEST_F(ExceptionTest, CancelledArrivesInsideACatchBlockAndReplacesWhatWasCaught) {
  scope_.spawn("child", [&] {
    try {
      try {
        throw std::runtime_error("caught");
      } catch (const std::runtime_error&) {
        WaitList().wait();
      }
    } catch (const Cancelled&) {
      note("cancelled");
      throw;
    }
  });
  run();
  scope_.cancel();
  run();
  EXPECT_EQ(log_, Log{"cancelled"});
}

TEST_F(ExceptionTest, ACatchAllThatRethrowsMaySuspendBehindAShield) {
  WaitList list;
  scope_.spawn("child", [&] {
    noting("child", [&] {
      try {
        WaitList().wait();
      } catch (...) {
        const CancellationShield shield;
        list.wait();
        throw;
      }
    });
  });
  run();
  scope_.cancel();
  run();
  // Somebody else throws meanwhile.
  Scope other(domain_);
  other.spawn("thrower", [&] {
    try {
      throw 1;
    } catch (int) {
      list.wake_one();
    }
  });
  run();
  EXPECT_EQ(log_, Log{"child cancelled"});
}

TEST_F(ExceptionTest, TheSchedulersOwnCatchBlockIsNotSeenByFibers) {
  scope_.spawn("child", [&] {
    EXPECT_EQ(std::current_exception(), nullptr);
    try {
      throw 1;
    } catch (int) {
      yield();
    }
  });
  try {
    throw std::runtime_error("outside");
  } catch (const std::runtime_error&) {
    scheduler_.run_one();
    EXPECT_THROW(std::rethrow_exception(std::current_exception()), std::runtime_error);
    run();
  }
  EXPECT_EQ(std::current_exception(), nullptr);
  EXPECT_EQ(std::uncaught_exceptions(), 0);
}

}  // namespace
}  // namespace morula
