#include "prod/linux_platform.hpp"

#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <thread>

#include "tests/prod/racing_processes.hpp"

namespace morula {
namespace {

/// A child that sleeps, and its identity as it sees itself.
struct Sleeper {
  SharedMemory<std::atomic<uint64_t>> start_time;
  ProcessIdentity identity;
  ChildProcess child{[this] {
    *start_time = LinuxPlatform().self().start_time;
    for (;;) ::pause();
  }};

  Sleeper() {
    while (*start_time == 0) std::this_thread::yield();
    identity = LinuxPlatform().self();
    identity.pid = static_cast<uint64_t>(child.pid());
    identity.start_time = *start_time;
  }
};

TEST(LinuxPlatform, KnowsItself) {
  const LinuxPlatform platform;
  const ProcessIdentity self = platform.self();
  EXPECT_EQ(self.pid, static_cast<uint64_t>(::getpid()));
  EXPECT_FALSE(self.boot_id.empty());
  EXPECT_TRUE(self.pid_namespace.starts_with("pid:["));
  EXPECT_GT(self.start_time, 0u);
  EXPECT_EQ(self, LinuxPlatform().self());
  EXPECT_FALSE(platform.provably_gone(self));
}

TEST(LinuxPlatform, StoppedProcessIsNotGoneAndAKilledOneIs) {
  Sleeper sleeper;
  const LinuxPlatform platform;
  EXPECT_FALSE(platform.provably_gone(sleeper.identity));
  sleeper.child.send(SIGSTOP);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(platform.provably_gone(sleeper.identity));
  sleeper.child.send(SIGKILL);
  // A zombie until it is waited for: gone already.
  for (int i = 0; i < 1000 && !platform.provably_gone(sleeper.identity); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_TRUE(platform.provably_gone(sleeper.identity));
  sleeper.child.join();
  EXPECT_TRUE(platform.provably_gone(sleeper.identity));
}

TEST(LinuxPlatform, OtherBootNamespaceOrNothingKnownProvesNothing) {
  Sleeper sleeper;
  const ProcessIdentity dead = sleeper.identity;
  sleeper.child.kill();
  const LinuxPlatform platform;
  ASSERT_TRUE(platform.provably_gone(dead));
  ProcessIdentity other = dead;
  other.boot_id = "another";
  EXPECT_FALSE(platform.provably_gone(other));
  other = dead;
  other.pid_namespace = "pid:[1]";
  EXPECT_FALSE(platform.provably_gone(other));
  EXPECT_FALSE(platform.provably_gone({}));
  other = dead;
  other.start_time = 0;
  EXPECT_FALSE(platform.provably_gone(other));
}

TEST(LinuxPlatform, ReusedPidIsAnotherProcess) {
  const LinuxPlatform platform;
  ProcessIdentity earlier = platform.self();
  earlier.start_time -= 1;
  EXPECT_TRUE(platform.provably_gone(earlier));
}

}  // namespace
}  // namespace morula
