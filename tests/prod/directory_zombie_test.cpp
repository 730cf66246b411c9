// A process that is stopped, or dies, at a chosen place of a put.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/prod/directory_fixture.hpp"
#include "tests/prod/racing_processes.hpp"

namespace morula {
namespace {

struct Told {
  bool landed = false;
  ErrorCode error = ErrorCode::kInvalid;
};

/// A child that puts `body` at "k" and stops itself when it first reaches `place`.
ChildProcess sleeper(const TemporaryDirectory& directory, std::string place,
                     const Precondition& precondition, Told& told) {
  return ChildProcess([&, place = std::move(place), precondition] {
    DirectoryFiles::Options options;
    bool slept = false;
    options.at_place = [&](std::string_view reached) {
      if (reached != place || slept) return;
      slept = true;
      ::raise(SIGSTOP);
    };
    const auto files = open_files(directory.path(), options);
    const auto put = files->put("k", "of the sleeper", precondition);
    told = put ? Told{true, {}} : Told{false, put.error().code};
  });
}

std::string read(DirectoryFiles& files) {
  const auto object = files.get("k", std::nullopt);
  return object ? *object->body : std::string(to_string(object.error().code));
}

/// Swaps "k" `times` times from what lies there now.
void swap_on(DirectoryFiles& files, int times) {
  for (int i = 0; i < times; ++i) {
    const auto object = files.get("k", std::nullopt);
    ASSERT_TRUE(object) << object.error().message;
    const auto swapped =
        files.put("k", "awake " + std::to_string(i), Precondition::if_match(object->etag));
    ASSERT_TRUE(swapped) << swapped.error().message;
  }
}

const std::vector<std::string> kBeforeTheLink = {"base chosen", "candidate written", "base seen"};
const std::vector<std::string> kAfterTheLink = {
    "linked",   "swap synced", "older version seen gone", "candidates listed", "candidates deleted",
    "copy made"};

TEST(DirectoryZombie, SwapThatSleptThroughOthersIsLost) {
  for (const std::string& place : kBeforeTheLink) {
    for (const int swaps : {1, 2, 3, 10}) {
      const TemporaryDirectory directory;
      const SharedMemory<Told> told;
      const auto files = open_files(directory.path());
      ASSERT_TRUE(files->put("k", "first", Precondition::if_absent()));
      swap_on(*files, 2);
      const Etag base = files->get("k", std::nullopt)->etag;
      ChildProcess zombie = sleeper(directory, place, Precondition::if_match(base), *told);
      ASSERT_TRUE(zombie.wait_stopped()) << place;
      swap_on(*files, swaps);
      const std::string newest = read(*files);
      zombie.send(SIGCONT);
      ASSERT_TRUE(zombie.join());
      EXPECT_FALSE(told->landed) << place;
      EXPECT_EQ(told->error, ErrorCode::kPreconditionFailed) << place;
      EXPECT_EQ(read(*files), newest) << place;
      swap_on(*files, 1);
      EXPECT_EQ(directory.files().size(), 2u) << "the object, and its newest version";
    }
  }
}

TEST(DirectoryZombie, FirstSwapThatSleptThroughOthersIsLost) {
  for (const std::string place : {"versions prepared", "base chosen", "base seen"}) {
    const TemporaryDirectory directory;
    const SharedMemory<Told> told;
    const auto files = open_files(directory.path());
    const Etag base = *files->put("k", "first", Precondition::if_absent());
    ChildProcess zombie = sleeper(directory, place, Precondition::if_match(base), *told);
    ASSERT_TRUE(zombie.wait_stopped()) << place;
    EXPECT_EQ(read(*files), "first");
    swap_on(*files, 3);
    zombie.send(SIGCONT);
    ASSERT_TRUE(zombie.join());
    EXPECT_FALSE(told->landed) << place;
    EXPECT_EQ(read(*files), "awake 2") << place;
  }
}

TEST(DirectoryZombie, SwapThatSleptAfterItsLinkHasLandedAndHoldsNobodyUp) {
  for (const std::string& place : kAfterTheLink) {
    const TemporaryDirectory directory;
    const SharedMemory<Told> told;
    const auto files = open_files(directory.path());
    ASSERT_TRUE(files->put("k", "first", Precondition::if_absent()));
    swap_on(*files, 2);
    const Etag base = files->get("k", std::nullopt)->etag;
    ChildProcess zombie = sleeper(directory, place, Precondition::if_match(base), *told);
    ASSERT_TRUE(zombie.wait_stopped()) << place;
    EXPECT_EQ(read(*files), "of the sleeper") << place;
    EXPECT_EQ(files->put("k", "x", Precondition::if_match(base)).error().code,
              ErrorCode::kPreconditionFailed);
    swap_on(*files, 5);
    zombie.send(SIGCONT);
    ASSERT_TRUE(zombie.join());
    EXPECT_TRUE(told->landed) << place;
    EXPECT_EQ(read(*files), "awake 4") << place;
    swap_on(*files, 1);
    EXPECT_EQ(directory.files().size(), 2u) << place;
  }
}

TEST(DirectoryZombie, CreateThatSleptThroughAnotherIsLost) {
  const TemporaryDirectory directory;
  const SharedMemory<Told> told;
  const auto files = open_files(directory.path());
  ChildProcess zombie = sleeper(directory, "object written", Precondition::if_absent(), *told);
  ASSERT_TRUE(zombie.wait_stopped());
  EXPECT_EQ(read(*files), "not_found");
  ASSERT_TRUE(files->put("k", "of the other", Precondition::if_absent()));
  zombie.send(SIGCONT);
  ASSERT_TRUE(zombie.join());
  EXPECT_FALSE(told->landed);
  EXPECT_EQ(read(*files), "of the other");
  EXPECT_EQ(directory.files(), std::vector<std::string>{"k"});
}

TEST(DirectoryZombie, CreateWhoseFileWasSweptMeanwhileStillLands) {
  const TemporaryDirectory directory;
  const SharedMemory<Told> told;
  ChildProcess zombie = sleeper(directory, "object written", Precondition::if_absent(), *told);
  ASSERT_TRUE(zombie.wait_stopped());
  for (const std::string& file : directory.files()) {
    std::filesystem::remove(directory.path() / file);
  }
  zombie.send(SIGCONT);
  ASSERT_TRUE(zombie.join());
  EXPECT_TRUE(told->landed);
  EXPECT_EQ(read(*open_files(directory.path())), "of the sleeper");
}

TEST(DirectoryZombie, DeathAnywhereInASwapLeavesOneVersionAndNothingElse) {
  std::vector<std::string> places = kBeforeTheLink;
  places.insert(places.end(), kAfterTheLink.begin(), kAfterTheLink.end());
  for (const std::string& place : places) {
    const TemporaryDirectory directory;
    const SharedMemory<Told> told;
    const auto files = open_files(directory.path());
    ASSERT_TRUE(files->put("k", "first", Precondition::if_absent()));
    swap_on(*files, 2);
    const std::string before = read(*files);
    const Etag base = files->get("k", std::nullopt)->etag;
    ChildProcess dying = sleeper(directory, place, Precondition::if_match(base), *told);
    ASSERT_TRUE(dying.wait_stopped()) << place;
    dying.kill();
    const bool landed =
        std::find(kAfterTheLink.begin(), kAfterTheLink.end(), place) != kAfterTheLink.end();
    EXPECT_EQ(read(*files), landed ? "of the sleeper" : before) << place;
    EXPECT_EQ(files->list("", "", 10)->objects.size(), 1u) << place;
    swap_on(*files, 1);
    EXPECT_EQ(read(*files), "awake 0");
    EXPECT_EQ(directory.files().size(), 2u) << place;
  }
}

TEST(DirectoryZombie, DeathAnywhereInACreateLeavesItOrNothing) {
  for (const std::string place : {"object written", "object named"}) {
    const TemporaryDirectory directory;
    const SharedMemory<Told> told;
    ChildProcess dying = sleeper(directory, place, Precondition::if_absent(), *told);
    ASSERT_TRUE(dying.wait_stopped()) << place;
    dying.kill();
    const auto files = open_files(directory.path());
    EXPECT_EQ(read(*files), place == "object named" ? "of the sleeper" : "not_found");
  }
}

TEST(DirectoryZombie, RemovalThatDiedHalfwayLeavesTheWholeObject) {
  const TemporaryDirectory directory;
  const auto files = open_files(directory.path());
  ASSERT_TRUE(files->put("k", "first", Precondition::if_absent()));
  swap_on(*files, 2);
  ChildProcess dying([&] {
    DirectoryFiles::Options options;
    options.at_place = [](std::string_view reached) {
      if (reached == "plain file removed") ::raise(SIGKILL);
    };
    const std::string keys[] = {"k"};
    (void)open_files(directory.path(), options)->remove(keys);
  });
  EXPECT_FALSE(dying.join());
  EXPECT_EQ(read(*files), "awake 1");
  EXPECT_EQ(files->list("", "", 10)->objects.size(), 1u);
  EXPECT_EQ(files->put("k", "x", Precondition::if_absent()).error().code,
            ErrorCode::kPreconditionFailed);
  const std::string keys[] = {"k"};
  EXPECT_TRUE(files->remove(keys));
  EXPECT_EQ(read(*files), "not_found");
  EXPECT_TRUE(directory.files().empty());
}

}  // namespace
}  // namespace morula
