#include "prod/loop.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>

#include <thread>

#include "core/rt/sync.hpp"
#include "prod/posix_file.hpp"
#include "prod/thread_compute.hpp"
#include "tests/prod/racing_processes.hpp"

namespace morula {
namespace {

using std::chrono::milliseconds;

TEST(Loop, FiberSleepsAtLeastAsLongAsItAsks) {
  Loop loop;
  loop.run_fiber("test", [&] {
    const Time begun = loop.now();
    loop.sleep(milliseconds(20));
    EXPECT_GE(loop.now() - begun, milliseconds(20));
    EXPECT_LT(loop.now() - begun, milliseconds(2000));
  });
}

TEST(Loop, TimersFireInTheOrderOfTheirTimes) {
  Loop loop;
  static std::vector<int> fired;
  fired.clear();
  loop.run_fiber("test", [&] {
    const Time now = loop.now();
    static constexpr int kNumbers[] = {0, 1, 2, 3};
    const auto note = [](void* number) { fired.push_back(*static_cast<const int*>(number)); };
    const auto arm = [&](int number, milliseconds after) {
      return loop.arm(now + after, note, const_cast<int*>(&kNumbers[number]));
    };
    arm(2, milliseconds(6));
    arm(0, milliseconds(2));
    const auto never = arm(3, milliseconds(4));
    arm(1, milliseconds(4));
    loop.disarm(never);
    loop.sleep(milliseconds(10));
    loop.disarm(never);
  });
  EXPECT_EQ(fired, (std::vector<int>{0, 1, 2}));
}

TEST(Loop, PostedFromAnotherThreadRunsOnTheLoop) {
  Loop loop;
  loop.run_fiber("test", [&] {
    const Completion<std::thread::id> done;
    std::thread other([&] { loop.post([done] { done.complete(std::this_thread::get_id()); }); });
    EXPECT_EQ(done.wait(), std::this_thread::get_id());
    other.join();
  });
}

TEST(Loop, DeferredRunsAfterTheReadyFibers) {
  Loop loop;
  std::string order;
  loop.run_fiber("test", [&] {
    with_scope(loop.domain(), [&](Scope& scope) {
      loop.defer([&] { order += 'd'; });
      for (int i = 0; i < 3; ++i) scope.spawn("other", [&] { order += 'f'; });
      scope.join();
      loop.sleep(milliseconds(1));
    });
  });
  EXPECT_EQ(order, "fffd");
}

TEST(Loop, TimerDueDuringAStopFiresAtOnceAfterIt) {
  const SharedMemory<int64_t> woke_after_ns;
  ChildProcess child([&] {
    Loop loop;
    loop.run_fiber("test", [&] {
      const Time begun = loop.now();
      loop.sleep(milliseconds(200));
      *woke_after_ns = (loop.now() - begun).count();
    });
  });
  std::this_thread::sleep_for(milliseconds(50));
  child.send(SIGSTOP);
  std::this_thread::sleep_for(milliseconds(400));
  child.send(SIGCONT);
  EXPECT_TRUE(child.join());
  EXPECT_GE(*woke_after_ns, 400'000'000) << "it was stopped all the time";
  EXPECT_LT(*woke_after_ns, 2'000'000'000);
}

class Reader final : public FdEvents {
 public:
  void on_readable() override { readable.set(); }
  void on_writable() override { writable.set(); }
  Event readable;
  Event writable;
};

TEST(Loop, WatchTellsWhenADescriptorIsReady) {
  int fds[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
  const UniqueFd a(fds[0]);
  const UniqueFd b(fds[1]);
  Loop loop;
  loop.run_fiber("test", [&] {
    Reader reader;
    FdWatch watch(loop, a.get(), reader);
    watch.await_writable();
    reader.writable.wait();
    watch.await_readable();
    loop.sleep(milliseconds(2));
    EXPECT_FALSE(reader.readable.is_set());
    ASSERT_EQ(write_all(b.get(), "x"), 0);
    reader.readable.wait();
    // Asked again while there is still something to read.
    Reader again;
    {
      FdWatch dropped(loop, b.get(), again);
      dropped.await_readable();
    }
    loop.sleep(milliseconds(1));
    EXPECT_FALSE(again.readable.is_set());
  });
}

TEST(Loop, SignalArrivesOnTheLoop) {
  Loop loop;
  int received = 0;
  loop.run_fiber("test", [&] {
    Event arrived;
    loop.on_signals({SIGUSR1}, [&](int signal) {
      received = signal;
      arrived.set();
    });
    ::raise(SIGUSR1);
    arrived.wait();
  });
  EXPECT_EQ(received, SIGUSR1);
}

TEST(ThreadCompute, RunsElsewhereAndResumesHere) {
  Loop loop;
  ThreadCompute compute(loop, 2);
  loop.run_fiber("test", [&] {
    const auto here = std::this_thread::get_id();
    std::thread::id there;
    compute.run([&] { there = std::this_thread::get_id(); });
    EXPECT_NE(there, here);
    EXPECT_EQ(std::this_thread::get_id(), here);
  });
}

}  // namespace
}  // namespace morula
