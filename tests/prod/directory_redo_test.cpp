// The redo log of a directory store: one wait for the disk per small put, whatever its process and
// the disk do.
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/prod/redo_fixture.hpp"

namespace morula {
namespace {

TEST(DirectoryRedo, SmallPutSyncsNeitherFileNorFolder) {
  const TemporaryDirectory directory;
  Watched watched;
  const auto files = open_files(directory.path(), watched_options(watched));
  const int before = watched.syncs;
  create(*files, "log/a/1", "x");
  create(*files, "log/a/2", std::string(5000, 'x'));
  EXPECT_EQ(watched.syncs, before);
  create(*files, "sst/1", std::string(300 * kKiB, 'x'));
  EXPECT_GT(watched.syncs, before) << "too large for the log";
  EXPECT_FALSE(is_sticky(directory.path() / "log/a/1"));
  EXPECT_FALSE(is_sticky(directory.path() / "sst/1"));
}

TEST(DirectoryRedo, PutsSyncByThemselvesWhileBothSegmentsWait) {
  const TemporaryDirectory directory;
  Watched watched;
  auto options = watched_options(watched);
  std::mutex checkpoint;
  options.at_sync = [&, counted = options.at_sync](int kind, int fd) {
    if (static_cast<DirectoryRoot::Synced>(kind) == DirectoryRoot::Synced::kAll) {
      const std::lock_guard slow(checkpoint);
    }
    return counted(kind, fd);
  };
  const auto files = open_files(directory.path(), options);
  const int before = watched.syncs;
  {
    const std::lock_guard slow(checkpoint);
    for (int i = 0; i < 40; ++i) create(*files, std::to_string(i), "x");
    EXPECT_GT(watched.syncs, before);
  }
  for (int i = 0; i < 40; ++i) EXPECT_FALSE(is_sticky(directory.path() / std::to_string(i)));
}

TEST(DirectoryRedo, CheckpointWaitsForPutsWhoseObjectIsNotSettled) {
  const TemporaryDirectory directory;
  Watched watched;
  auto options = watched_options(watched);
  std::atomic<bool> waits{false};
  std::atomic<bool> goes_on{false};
  std::atomic<bool> too_early{false};
  std::atomic<int> in_slow{0};
  options.at_place = [&](std::string_view place) {
    if (in_slow == 0 || place != "record written" || waits.exchange(true)) return;
    while (!goes_on) std::this_thread::yield();
  };
  options.at_sync = [&, counted = options.at_sync](int kind, int fd) {
    const bool all = static_cast<DirectoryRoot::Synced>(kind) == DirectoryRoot::Synced::kAll;
    if (all && is_sticky(directory.path() / "slow")) too_early = true;
    return counted(kind, fd);
  };
  const auto files = open_files(directory.path(), options);
  in_slow = 1;
  std::thread slow([&] { create(*files, "slow", "x"); });
  wait_for([&] { return waits.load(); });
  const int before = watched.syncs;
  for (int i = 0; watched.syncs == before; ++i) create(*files, std::to_string(i), "x");
  EXPECT_EQ(watched.checkpoints, 0) << "both segments are full";
  goes_on = true;
  slow.join();
  wait_for([&] { return watched.checkpoints > 0; });
  EXPECT_FALSE(too_early);
}

TEST(DirectoryRedo, FailedCheckpointKeepsTheLogAndIsToldOnce) {
  const TemporaryDirectory directory;
  const TemporaryDirectory after;
  Watched watched;
  watched.checkpoints_fail = true;
  auto files = open_files(directory.path(), watched_options(watched));
  for (int i = 0; i < 40; ++i) create(*files, std::to_string(i), "content");
  wait_for([&] {
    const std::lock_guard lock(watched.mutex);
    return !watched.troubles.empty();
  });
  const int before = watched.syncs;
  create(*files, "later", "content");
  EXPECT_GT(watched.syncs, before) << "syncs by itself";
  files.reset();
  ASSERT_EQ(watched.troubles.size(), 1u);
  EXPECT_NE(watched.troubles[0].find("Input/output error"), std::string::npos);
  ASSERT_EQ(logs_in(directory).size(), 1u);
  EXPECT_TRUE(logs_in(directory)[0].string().ends_with(".kept"));

  open_at_boot(directory.path(), kThisBoot);  // cleans after the dead, but not this
  ASSERT_EQ(logs_in(directory).size(), 1u);
  tear(directory.path() / "0");
  EXPECT_EQ(get(*open_at_boot(directory.path(), kNextBoot), "0"), "content");
  EXPECT_TRUE(logs_in(directory).empty());
}

TEST(DirectoryRedo, WithoutRoomForALogPutsSyncByThemselves) {
  const TemporaryDirectory directory;
  Watched watched;
  auto options = watched_options(watched);
  options.redo_segment_bytes = 1024 * 1024 * kMiB;
  const auto files = open_files(directory.path(), options);
  create(*files, "k", "x");
  EXPECT_EQ(get(*files, "k"), "x");
  EXPECT_EQ(watched.troubles.size(), 1u);
  EXPECT_TRUE(logs_in(directory).empty());
}

TEST(DirectoryRedo, CleanEndLeavesNoLog) {
  const TemporaryDirectory directory;
  {
    const auto files = open_at_boot(directory.path(), kThisBoot);
    create(*files, "k", "x");
    EXPECT_EQ(logs_in(directory).size(), 1u);
  }
  EXPECT_TRUE(logs_in(directory).empty());
}

TEST(DirectoryRedo, IdleLogIsEmptied) {
  const TemporaryDirectory directory;
  Watched watched;
  auto options = watched_options(watched);
  options.redo_idle_after = std::chrono::milliseconds(5);
  const auto files = open_files(directory.path(), options);
  create(*files, "k", "x");
  wait_for([&] { return watched.checkpoints == 1; });
}

TEST(DirectoryRedo, LogOfADeadProcessIsDeletedByTheNext) {
  for (const std::string place : {"object written", "object named", "record written"}) {
    const TemporaryDirectory directory;
    ChildProcess dying = sleeper(directory, place);
    ASSERT_TRUE(dying.wait_stopped()) << place;
    dying.kill();
    ASSERT_EQ(logs_in(directory).size(), 1u);
    const auto dead = logs_in(directory)[0];
    const auto files = open_at_boot(directory.path(), kThisBoot);
    wait_for([&] { return !std::filesystem::exists(dead); });
    EXPECT_EQ(get(*files, "k"), place == "object written" ? "not_found" : "of the sleeper");
    EXPECT_EQ(logs_in(directory).size(), 1u) << "its own";
  }
}

TEST(DirectoryRedo, LogOfAStoppedProcessStaysAndHoldsNobodyUp) {
  const TemporaryDirectory directory;
  const TemporaryDirectory after;
  ChildProcess stopped = sleeper(directory, "object named");
  ASSERT_TRUE(stopped.wait_stopped());
  EXPECT_TRUE(is_sticky(directory.path() / "k"));
  {
    const auto files = open_at_boot(directory.path(), kThisBoot);
    create(*files, "other", "x");
    EXPECT_EQ(get(*files, "k"), "of the sleeper");
    copy_disk(directory, after);
  }
  EXPECT_EQ(logs_in(directory).size(), 1u) << "the stopped process's";
  tear(after.path() / "k");
  EXPECT_EQ(get(*open_at_boot(after.path(), kNextBoot), "k"), "of the sleeper")
      << "in the reader's log";
  stopped.send(SIGCONT);
  EXPECT_TRUE(stopped.join());
  EXPECT_TRUE(logs_in(directory).empty());
}

}  // namespace
}  // namespace morula
