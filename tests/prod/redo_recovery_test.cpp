// What a start after a loss of power makes of a directory store.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "prod/directory/redo_record.hpp"
#include "tests/prod/redo_fixture.hpp"

namespace morula {
namespace {

TEST(RedoRecovery, TornAndAbsentObjectsAreWrittenAgain) {
  const TemporaryDirectory directory;
  const TemporaryDirectory after;
  const auto files = open_at_boot(directory.path(), kThisBoot);
  create(*files, "f/torn", "content of torn");
  create(*files, "f/absent", "content of absent");
  create(*files, "g/absent", "its folder too");
  create(*files, "f/whole", "content of whole");
  copy_disk(directory, after);
  tear(after.path() / "f/torn");
  std::filesystem::remove(after.path() / "f/absent");
  std::filesystem::remove_all(after.path() / "g");
  const auto reopened = open_at_boot(after.path(), kNextBoot);
  EXPECT_EQ(get(*reopened, "f/torn"), "content of torn");
  EXPECT_EQ(get(*reopened, "f/absent"), "content of absent");
  EXPECT_EQ(get(*reopened, "g/absent"), "its folder too");
  EXPECT_EQ(get(*reopened, "f/whole"), "content of whole");
  EXPECT_EQ(logs_in(after).size(), 1u) << "the old log is gone";
}

TEST(RedoRecovery, RemovedObjectStaysRemovedWhenTheDiskStillHasIt) {
  const TemporaryDirectory directory;
  const TemporaryDirectory after;
  const auto files = open_at_boot(directory.path(), kThisBoot);
  create(*files, "k", "first");
  create(*files, "again", "first");
  copy_disk(directory, after);
  remove(*files, "k");
  remove(*files, "again");
  create(*files, "again", "second");
  std::filesystem::remove_all(after.path() / "@redo");
  std::filesystem::copy(directory.path() / "@redo", after.path() / "@redo");
  const auto reopened = open_at_boot(after.path(), kNextBoot);
  EXPECT_EQ(get(*reopened, "k"), "not_found");
  EXPECT_EQ(get(*reopened, "again"), "second");
}

TEST(RedoRecovery, LogOfAnotherBootWhoseOwnerLivesIsNotTouched) {
  const TemporaryDirectory directory;
  const auto files = open_at_boot(directory.path(), kThisBoot);
  create(*files, "k", "of the living");
  DirectoryFiles::Options options;
  options.boot = kNextBoot;
  const auto other = DirectoryFiles::open(directory.path().string(), std::move(options));
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, ErrorCode::kBusy);
  EXPECT_NE(other.error().message.find("its owner lives"), std::string::npos)
      << other.error().message;
  EXPECT_EQ(logs_in(directory).size(), 1u);
  EXPECT_EQ(get(*files, "k"), "of the living");
}

TEST(RedoRecovery, LogsThatCannotBeListedAreNoReasonToStartWithoutThem) {
  const TemporaryDirectory directory;
  { const auto files = open_at_boot(directory.path(), kThisBoot); }
  std::filesystem::remove_all(directory.path() / "@redo");
  directory.write_file("@redo", "a file where the folder should be");
  DirectoryFiles::Options options;
  options.boot = kNextBoot;
  EXPECT_FALSE(DirectoryFiles::open(directory.path().string(), std::move(options)));
}

TEST(RedoRecovery, WholeRecordBehindAHoleCounts) {
  const TemporaryDirectory directory;
  const TemporaryDirectory after;
  const auto files = open_at_boot(directory.path(), kThisBoot);
  create(*files, "1", std::string(6000, 'x'));
  create(*files, "2", "behind it");
  copy_disk(directory, after);
  {
    std::fstream log(logs_in(after).at(0), std::ios::in | std::ios::out | std::ios::binary);
    log.seekp(static_cast<std::streamoff>(kRedoBlock) + 100);
    log << "not what was written";
  }
  std::filesystem::remove(after.path() / "1");
  std::filesystem::remove(after.path() / "2");
  const auto reopened = open_at_boot(after.path(), kNextBoot);
  EXPECT_EQ(get(*reopened, "1"), "not_found");
  EXPECT_EQ(get(*reopened, "2"), "behind it");
}

TEST(RedoRecovery, SegmentIsUsedAgainAfterACheckpointAndItsOldRecordsCountNoMore) {
  const TemporaryDirectory directory;
  const TemporaryDirectory after;
  Watched watched;
  const auto files = open_files(directory.path(), watched_options(watched));
  constexpr int kPuts = 100;  // a segment has room for 15
  for (int i = 0; i < kPuts; ++i) {
    create(*files, std::to_string(i), "content " + std::to_string(i));
    const int expected = (i + 1) / 15 - 1;
    if (i % 15 == 14) wait_for([&] { return watched.checkpoints >= expected; });
  }
  EXPECT_GE(watched.checkpoints, 4);
  copy_disk(directory, after);
  for (int i = 0; i < kPuts; ++i) std::filesystem::remove(after.path() / std::to_string(i));
  const auto reopened = open_at_boot(after.path(), kNextBoot);
  EXPECT_EQ(get(*reopened, "0"), "not_found") << "safe on the disk since, and then taken away";
  EXPECT_EQ(get(*reopened, "99"), "content 99");
  EXPECT_LE(reopened->list("", "", 1000)->objects.size(), 30u);
}

TEST(RedoRecovery, WhoeverSeesAnUnsettledObjectSettlesIt) {
  const std::vector<std::pair<std::string, std::function<void(DirectoryFiles&)>>> ways = {
      {"get", [](DirectoryFiles& files) { EXPECT_EQ(get(files, "k"), "of the sleeper"); }},
      {"head", [](DirectoryFiles& files) { EXPECT_TRUE(files.head("k")); }},
      {"list", [](DirectoryFiles& files) { EXPECT_EQ(files.list("", "", 9)->objects.size(), 1u); }},
      {"failed condition",
       [](DirectoryFiles& files) {
         EXPECT_EQ(files.put("k", "x", Precondition::if_absent()).error().code,
                   ErrorCode::kPreconditionFailed);
       }},
  };
  const TemporaryDirectory directory;
  ChildProcess stopped = sleeper(directory, "object named");
  ASSERT_TRUE(stopped.wait_stopped());
  for (const auto& [name, see] : ways) {
    for (const RedoUse use : {RedoUse::kAtOnce, RedoUse::kOff}) {
      const TemporaryDirectory live;
      const TemporaryDirectory after;
      copy_disk(directory, live);
      Watched watched;
      auto options = watched_options(watched);
      options.redo = use;
      const auto files = open_files(live.path(), options);
      ASSERT_TRUE(is_sticky(live.path() / "k"));
      const int before = watched.syncs;
      see(*files);
      EXPECT_FALSE(is_sticky(live.path() / "k")) << name;
      if (use == RedoUse::kOff) {
        EXPECT_GE(watched.syncs, before + 3) << name << ": content, mode, folder";
        continue;
      }
      copy_disk(live, after);
      tear(after.path() / "k");
      EXPECT_EQ(get(*open_at_boot(after.path(), kNextBoot), "k"), "of the sleeper") << name;
    }
  }
}

TEST(RedoRecovery, ObjectThatNobodySawIsDeletedByRecovery) {
  const TemporaryDirectory directory;
  const TemporaryDirectory after;
  ChildProcess stopped = sleeper(directory, "object named");
  ASSERT_TRUE(stopped.wait_stopped());
  copy_disk(directory, after);
  EXPECT_EQ(get(*open_at_boot(after.path(), kNextBoot), "k"), "not_found");
  EXPECT_TRUE(after.files().empty());
}

TEST(RedoRecovery, ReadOnlyStoreSaysThatRecoveryIsDueAndChangesNothing) {
  const TemporaryDirectory directory;
  const TemporaryDirectory after;
  const auto files = open_at_boot(directory.path(), kThisBoot);
  create(*files, "k", "x");
  copy_disk(directory, after);
  Watched watched;
  auto options = watched_options(watched, kNextBoot);
  options.read_only = true;
  const auto reader = open_files(after.path(), options);
  EXPECT_EQ(watched.troubles.size(), 1u);
  EXPECT_EQ(get(*reader, "k"), "x");
  EXPECT_EQ(logs_in(after).size(), 1u);
}

TEST(RedoRecovery, RecoveryThatIsStoppedEndsTheOthersWithAnError) {
  const TemporaryDirectory directory;
  const TemporaryDirectory after;
  const auto files = open_at_boot(directory.path(), kThisBoot);
  create(*files, "k", "x");
  copy_disk(directory, after);
  const UniqueFd lock(::open((after.path() / "@redo").c_str(), O_RDONLY | O_DIRECTORY));
  ASSERT_EQ(::flock(lock.get(), LOCK_EX), 0);
  DirectoryFiles::Options options;
  options.boot = kNextBoot;
  options.recovery_patience = std::chrono::milliseconds(30);
  const auto refused = DirectoryFiles::open(after.path().string(), options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kBusy);
  EXPECT_NE(refused.error().message.find("wake or end it"), std::string::npos);
}

TEST(RedoRecovery, LargeObjectOfALaterLifeIsKeptThoughItsDraftIsOlder) {
  const TemporaryDirectory directory;
  const TemporaryDirectory after;
  const std::string large(300 * kKiB, 'x');
  std::atomic<bool> written{false};
  std::atomic<bool> goes_on{false};
  DirectoryFiles::Options options;
  options.boot = kThisBoot;
  options.at_place = [&](std::string_view place) {
    if (place != "object written" || written.exchange(true)) return;
    while (!goes_on) std::this_thread::yield();
  };
  const auto slow_files = open_files(directory.path(), options);
  options.at_place = nullptr;
  options.redo = RedoUse::kOff;  // its removals are in no log
  const auto remover = open_files(directory.path(), options);
  const auto files = open_at_boot(directory.path(), kThisBoot);
  std::thread slow([&] { create(*slow_files, "k", large); });
  wait_for([&] { return written.load(); });
  create(*files, "k", "small");
  remove(*remover, "k");
  goes_on = true;
  slow.join();
  copy_disk(directory, after);
  EXPECT_EQ(get(*open_at_boot(after.path(), kNextBoot), "k"), large);
}

TEST(RedoRecovery, WhatSomebodyPutInThePlaceOfAnObjectOrFolderIsLeftAlone) {
  const TemporaryDirectory directory;
  const TemporaryDirectory after;
  const auto files = open_at_boot(directory.path(), kThisBoot);
  create(*files, "f/1", "x");
  create(*files, "2", "x");
  create(*files, "3", "the third");
  copy_disk(directory, after);
  std::filesystem::remove_all(after.path() / "f");
  after.write_file("f", "no folder");
  std::filesystem::remove(after.path() / "2");
  std::filesystem::create_symlink("f", after.path() / "2");
  std::filesystem::remove(after.path() / "3");
  const auto reopened = open_at_boot(after.path(), kNextBoot);
  EXPECT_EQ(get(*reopened, "f"), "no folder");
  EXPECT_EQ(get(*reopened, "2"), "not_found");
  EXPECT_EQ(get(*reopened, "3"), "the third");
}

TEST(RedoRecovery, ObjectOfALaterLifeOfItsPathIsKept) {
  const TemporaryDirectory directory;
  const TemporaryDirectory after;
  const auto files = open_at_boot(directory.path(), kThisBoot);
  create(*files, "k", "first");
  copy_disk(directory, after);
  std::filesystem::remove(after.path() / "k");
  after.write_file("k", "second");
  EXPECT_EQ(get(*open_at_boot(after.path(), kNextBoot), "k"), "second");
}

TEST(RedoRecovery, FirstSwapMakesTheCreatedContentSafe) {
  const TemporaryDirectory directory;
  const TemporaryDirectory after;
  const auto files = open_at_boot(directory.path(), kThisBoot);
  const Etag etag = *files->put("k", "first", Precondition::if_absent());
  ASSERT_TRUE(files->put("k", "second", Precondition::if_match(etag)));
  copy_disk(directory, after);
  EXPECT_EQ(get(*open_at_boot(after.path(), kNextBoot), "k"), "second");
  std::filesystem::remove_all(after.path() / "k@");
  std::filesystem::remove(after.path() / "k");
  copy_disk(directory, after);
  std::filesystem::remove_all(after.path() / "k@");
  std::filesystem::remove(after.path() / "k");
  EXPECT_EQ(get(*open_at_boot(after.path(), kNextBoot), "k"), "not_found")
      << "records of what is swapped do not bring it back";
}

}  // namespace
}  // namespace morula
