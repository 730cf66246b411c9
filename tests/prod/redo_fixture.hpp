// Stores with redo logs at boots of the machine that the test chooses, and what a loss of power
// does to their files.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "prod/directory/directory_root.hpp"
#include "tests/prod/directory_fixture.hpp"
#include "tests/prod/racing_processes.hpp"

namespace morula {

inline const std::string kThisBoot(32, 'a');
inline const std::string kNextBoot(32, 'b');

/// Counts what a store does and says. Thread-safe.
struct Watched {
  std::atomic<int> syncs{0};
  std::atomic<int> checkpoints{0};
  std::atomic<bool> checkpoints_fail{false};
  std::mutex mutex;
  std::vector<std::string> troubles;
};

inline DirectoryFiles::Options watched_options(Watched& watched,
                                               const std::string& boot = kThisBoot) {
  DirectoryFiles::Options options;
  options.boot = boot;
  options.redo = RedoUse::kAtOnce;
  options.redo_segment_bytes = 64 * kKiB;
  options.at_sync = [&watched](int kind, int) {
    if (static_cast<DirectoryRoot::Synced>(kind) != DirectoryRoot::Synced::kAll) {
      ++watched.syncs;
      return 0;
    }
    ++watched.checkpoints;
    return watched.checkpoints_fail ? EIO : 0;
  };
  options.trouble = [&watched](std::string_view path, std::string_view why) {
    const std::lock_guard lock(watched.mutex);
    watched.troubles.push_back(std::string(path) + ": " + std::string(why));
  };
  return options;
}

inline std::unique_ptr<DirectoryFiles> open_at_boot(const std::filesystem::path& path,
                                                    const std::string& boot) {
  DirectoryFiles::Options options;
  options.boot = boot;
  return open_files(path, std::move(options));
}

inline std::string get(DirectoryFiles& files, const std::string& key) {
  const auto object = files.get(key, std::nullopt);
  return object ? *object->body : std::string(to_string(object.error().code));
}

inline void create(DirectoryFiles& files, const std::string& key, const std::string& body) {
  const auto put = files.put(key, body, Precondition::if_absent());
  ASSERT_TRUE(put) << put.error().message;
}

inline void remove(DirectoryFiles& files, const std::string& key) {
  const std::string keys[] = {key};
  ASSERT_TRUE(files.remove(keys));
}

inline std::vector<std::filesystem::path> logs_in(const TemporaryDirectory& directory) {
  std::vector<std::filesystem::path> logs;
  std::error_code absent;
  for (const auto& entry :
       std::filesystem::directory_iterator(directory.path() / "@redo", absent)) {
    logs.push_back(entry.path());
  }
  std::sort(logs.begin(), logs.end());
  return logs;
}

/// What the disk has of `from` when the power fails: everything, until the test takes some away.
inline void copy_disk(const TemporaryDirectory& from, const TemporaryDirectory& to) {
  const std::string command = "cp -a " + from.path().string() + "/. " + to.path().string();
  ASSERT_EQ(std::system(command.c_str()), 0);
}

/// The content did not get to the disk; mode and time did.
inline void tear(const std::filesystem::path& file) {
  const auto time = std::filesystem::last_write_time(file);
  std::filesystem::permissions(file, std::filesystem::perms::owner_write,
                               std::filesystem::perm_options::add);
  std::filesystem::resize_file(file, 1);
  std::filesystem::last_write_time(file, time);
}

inline bool is_sticky(const std::filesystem::path& file) {
  const auto all = std::filesystem::status(file).permissions();
  return (all & std::filesystem::perms::sticky_bit) != std::filesystem::perms::none;
}

inline void wait_for(const std::function<bool()>& what) {
  for (int i = 0; i < 10'000 && !what(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_TRUE(what());
}

/// A child that puts `body` at "k" and stops itself when it first reaches `place`.
inline ChildProcess sleeper(const TemporaryDirectory& directory, const std::string& place) {
  return ChildProcess([&, place] {
    DirectoryFiles::Options options;
    options.boot = kThisBoot;
    options.at_place = [&](std::string_view reached) {
      if (reached == place) ::raise(SIGSTOP);
    };
    const auto files = open_files(directory.path(), options);
    create(*files, "k", "of the sleeper");
  });
}

}  // namespace morula
