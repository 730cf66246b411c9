#include "prod/directory/directory_files.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <iterator>
#include <set>

#include "core/rt/sync.hpp"
#include "prod/directory/directory_names.hpp"
#include "prod/directory/directory_root.hpp"
#include "tests/prod/directory_fixture.hpp"

namespace morula {
namespace {

std::string get(DirectoryFiles& files, std::string_view key) {
  const auto object = files.get(key, std::nullopt);
  return object ? *object->body : std::string(to_string(object.error().code));
}

TEST(DirectoryFiles, PersonFindsTheNewestContentUnderTheKey) {
  const TemporaryDirectory directory;
  const auto files = open_files(directory.path());
  Etag etag = *files->put("members/node-1.json", "one", Precondition::if_absent());
  EXPECT_EQ(directory.files(), std::vector<std::string>{"members/node-1.json"});
  etag = *files->put("members/node-1.json", "two", Precondition::if_match(etag));
  etag = *files->put("members/node-1.json", "three", Precondition::if_match(etag));
  EXPECT_EQ(directory.read_file("members/node-1.json"), "three");
  EXPECT_EQ(directory.read_file("members/node-1.json@/3"), "three");
  EXPECT_EQ(directory.files().size(), 2u);
}

TEST(DirectoryFiles, WhatAPersonDoesToTheCopyIsNotRead) {
  const TemporaryDirectory directory;
  const auto files = open_files(directory.path());
  const Etag etag = *files->put("k", "one", Precondition::if_absent());
  ASSERT_TRUE(files->put("k", "two", Precondition::if_match(etag)));
  std::filesystem::remove(directory.path() / "k");
  EXPECT_EQ(get(*files, "k"), "two");
  EXPECT_EQ(files->put("k", "x", Precondition::if_absent()).error().code,
            ErrorCode::kPreconditionFailed);
  EXPECT_EQ(files->list("", "", 10)->objects.size(), 1u);
  directory.write_file("k", "scribble");
  EXPECT_EQ(get(*files, "k"), "two");
}

TEST(DirectoryFiles, ForeignNamesAreIgnoredAndToldOnce) {
  const TemporaryDirectory directory;
  std::vector<std::string> told;
  DirectoryFiles::Options options;
  options.foreign_name = [&](std::string_view path, std::string_view) { told.emplace_back(path); };
  const auto files = open_files(directory.path(), options);
  ASSERT_TRUE(files->put("log/1", "x", Precondition::if_absent()));
  directory.write_file("log/1~", "");
  directory.write_file("log/a b", "");
  directory.write_file("log/%2f", "");
  std::filesystem::create_symlink("1", directory.path() / "log/2");
  ASSERT_EQ(::mkfifo((directory.path() / "log/3").c_str(), 0600), 0);
  for (int i = 0; i < 2; ++i) {
    const auto listing = files->list("", "", 10);
    ASSERT_TRUE(listing) << listing.error().message;
    ASSERT_EQ(listing->objects.size(), 1u);
    EXPECT_EQ(listing->objects[0].key, "log/1");
  }
  EXPECT_EQ(told.size(), 5u);
  EXPECT_EQ(get(*files, "log/2"), "not_found");
  EXPECT_EQ(get(*files, "log/3"), "not_found");
  EXPECT_EQ(files->put("log/3", "x", Precondition::if_absent()).error().code, ErrorCode::kInvalid);
}

TEST(DirectoryFiles, NoVersionInItsFolderIsDamageThatSaysSo) {
  const TemporaryDirectory directory;
  const auto files = open_files(directory.path());
  std::filesystem::create_directories(directory.path() / "k@");
  const auto object = files->get("k", std::nullopt);
  EXPECT_EQ(object.error().code, ErrorCode::kCorrupt);
  EXPECT_NE(object.error().message.find("k@"), std::string::npos);
}

TEST(DirectoryFiles, KeysThatMakeNoFileNamesAreRefused) {
  const TemporaryDirectory directory;
  const auto files = open_files(directory.path());
  for (const std::string& key :
       {std::string(), std::string("/a"), std::string("a//b"), std::string("a/"),
        std::string(255, 'x'), std::string(100, ' '), std::string(2000, 'x')}) {
    EXPECT_EQ(files->put(key, "x", Precondition::if_absent()).error().code, ErrorCode::kInvalid);
    EXPECT_EQ(files->get(key, std::nullopt).error().code, ErrorCode::kInvalid);
  }
}

TEST(DirectoryFiles, ObjectIsNoFolderAndAFolderNoObject) {
  const TemporaryDirectory directory;
  const auto files = open_files(directory.path());
  ASSERT_TRUE(files->put("a", "x", Precondition::if_absent()));
  ASSERT_TRUE(files->put("b/c", "x", Precondition::if_absent()));
  EXPECT_EQ(files->put("a/b", "x", Precondition::if_absent()).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(files->put("b", "x", Precondition::if_absent()).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(get(*files, "a/b"), "not_found");
  EXPECT_EQ(get(*files, "b"), "not_found");
}

TEST(DirectoryFiles, KeysNeverLeaveTheDirectory) {
  const TemporaryDirectory directory;
  const auto files = open_files(directory.path() / "store");
  ASSERT_TRUE(files->put("../../x", "x", Precondition::if_absent()));
  ASSERT_TRUE(files->put(".", "x", Precondition::if_absent()));
  for (const std::string& file : directory.files()) EXPECT_TRUE(file.starts_with("store/")) << file;
}

TEST(DirectoryFiles, LeftoversOfDeadWritersAreSweptWhenOld) {
  const TemporaryDirectory directory;
  directory.write_file("@tmp/new-1", "half an object");
  directory.write_file("@tmp/versions-1/1", "prepared");
  directory.write_file("@tmp/gone-1/7", "half removed");
  EXPECT_TRUE(open_files(directory.path())->list("", "", 10)->objects.empty());
  EXPECT_EQ(directory.files().size(), 3u) << "young: the writer may be alive";
  DirectoryFiles::Options options;
  options.swept_after = std::chrono::seconds(0);
  open_files(directory.path(), options);
  EXPECT_TRUE(directory.files().empty());
}

TEST(DirectoryFiles, DraftsHaveAFolderThatIsMadeWhenNeededAndGoesInTheEnd) {
  const TemporaryDirectory directory;
  auto files = open_files(directory.path());
  ASSERT_TRUE(files->put("a", "1", Precondition::if_absent()));
  EXPECT_FALSE(std::filesystem::is_empty(directory.path() / "@tmp"));
  std::filesystem::remove_all(directory.path() / "@tmp");
  ASSERT_TRUE(files->put("b", "2", Precondition::if_absent())) << "swept while its writer slept";
  files.reset();
  EXPECT_TRUE(std::filesystem::is_empty(directory.path() / "@tmp"));
}

TEST(DirectoryFiles, ManyDraftsLeaveOneFolderAfterTheOther) {
  const TemporaryDirectory directory;
  DirectoryRoot root;
  root.fd.reset(::open(directory.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  std::set<std::string> folders;
  for (int i = 0; i < 20'000; ++i) {
    const auto folder = std::filesystem::path(root.drafts.next_path(root.fd.get())).parent_path();
    if (!folders.insert(folder.string()).second) continue;
    std::filesystem::create_directories(directory.path() / folder);
  }
  EXPECT_EQ(folders.size(), 5U);
  const auto left = std::filesystem::directory_iterator(directory.path() / "@tmp");
  EXPECT_EQ(std::distance(begin(left), end(left)), 2) << "the current one, and the one before";
}

TEST(DirectoryFiles, FileInPlaceOfTheDirectoryIsAClearError) {
  const TemporaryDirectory directory;
  directory.write_file("store", "a file");
  const auto files = DirectoryFiles::open((directory.path() / "store").string(), {});
  ASSERT_FALSE(files);
  EXPECT_EQ(files.error().code, ErrorCode::kInvalid);
  EXPECT_NE(files.error().message.find("/store"), std::string::npos) << files.error().message;
}

TEST(DirectoryFiles, RemovedDirectoryIsNotAnEmptyStore) {
  const TemporaryDirectory directory;
  const auto files = open_files(directory.path() / "store");
  std::filesystem::remove_all(directory.path() / "store");
  const auto put = files->put("k", "x", Precondition::if_absent());
  ASSERT_FALSE(put);
  EXPECT_EQ(put.error().code, ErrorCode::kUnavailable) << put.error().message;
}

TEST(DirectoryNames, EveryKeyIsReadBackFromItsNames) {
  for (const std::string& key :
       {std::string("cell.json"), std::string("a b"), std::string("%"), std::string("@tmp"),
        std::string("\x01\xff"), std::string("."), std::string(".."), std::string("a@")}) {
    const auto path = path_of_key(key);
    ASSERT_TRUE(path);
    EXPECT_EQ(segment_of_name(*path), key);
  }
  for (const char* name : {"", "a@", "@tmp", "a b", "%", "%4", "%zz", "%41", "%2f", ".", ".."}) {
    EXPECT_EQ(segment_of_name(name), std::nullopt) << name;
  }
}

TEST(DirectoryFiles, ReadOnlyStoreReadsEverythingAndWritesNothing) {
  const TemporaryDirectory directory;
  DirectoryFiles::Options options;
  options.read_only = true;
  const auto absent = DirectoryFiles::open((directory.path() / "absent").string(), options);
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().code, ErrorCode::kNotFound);

  const auto etag = *open_files(directory.path())->put("k", "x", Precondition::if_absent());
  std::filesystem::remove_all(directory.path() / "@tmp");
  const auto files = open_files(directory.path(), options);
  EXPECT_EQ(get(*files, "k"), "x");
  EXPECT_EQ(files->list("", "", 10)->objects.size(), 1U);
  const std::vector<std::string> keys{"k"};
  const std::vector<Result<>> refused = {
      files->put("n", "y", Precondition::if_absent()).map([](const Etag&) {}),
      files->put("k", "y", Precondition::if_match(etag)).map([](const Etag&) {}),
      files->put("k", "y", Precondition::none()).map([](const Etag&) {}), files->remove(keys)};
  for (const auto& outcome : refused) {
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().code, ErrorCode::kDenied);
  }
  EXPECT_EQ(directory.files(), std::vector<std::string>{"k"});
  EXPECT_FALSE(std::filesystem::exists(directory.path() / "absent"));
}

TEST(DirectoryStore, RequestWhoseDeadlineIsPastIsNotBegun) {
  const TemporaryDirectory directory;
  Loop loop;
  DirectoryStore store(loop, open_files(directory.path()));
  loop.run_fiber("test", [&] {
    const RequestOptions late{loop.now() - std::chrono::seconds(1), Purpose::kLog};
    const auto put = store.put("k", make_blob("x"), Precondition::if_absent(), late);
    ASSERT_FALSE(put);
    EXPECT_EQ(put.error().code, ErrorCode::kTimeout);
  });
  EXPECT_EQ(get(*open_files(directory.path()), "k"), "not_found");
}

TEST(DirectoryStore, CancelledPutMayLandAndHarmsNobody) {
  const TemporaryDirectory directory;
  Loop loop;
  DirectoryStore store(loop, open_files(directory.path()));
  loop.run_fiber("test", [&] {
    with_scope(loop.domain(), [&](Scope& scope) {
      for (int i = 0; i < 20; ++i) {
        scope.spawn("put", [&store, i] {
          (void)store.put("k" + std::to_string(i), make_blob("x"), Precondition::if_absent(), {});
        });
      }
      yield();
    });
  });
}

}  // namespace
}  // namespace morula
