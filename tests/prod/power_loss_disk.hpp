// What a loss of power leaves of a directory: told of each sync, it knows which contents, names and
// modes are on the disk, and draws for all others whether they got there. It is harsher than file
// systems are: each name, each mode and each content gets there or not by itself, and a content
// that did not is cut, zeroed or overwritten. Only redo logs are as they were: each write of theirs
// is synced.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/rt/random.hpp"
#include "prod/directory/directory_settling.hpp"
#include "tests/prod/directory_fixture.hpp"

namespace morula {

class PowerLossDisk {
 public:
  /// `live` is watched; what lies there already is on the disk.
  explicit PowerLossDisk(std::filesystem::path live) : live_(std::move(live)) {
    look();
    everything_is_safe();
  }

  /// To be called after each change; others are seen with the next.
  void look() {
    const std::lock_guard lock(mutex_);
    look_into(live_);
  }

  /// For DirectoryFiles::Options.
  int synced(int kind, int fd) {
    const std::lock_guard lock(mutex_);
    look_into(live_);
    struct stat info {};
    ::fstat(fd, &info);
    switch (static_cast<DirectoryRoot::Synced>(kind)) {
      case DirectoryRoot::Synced::kFile:
        file_is_safe(info.st_ino);
        break;
      case DirectoryRoot::Synced::kFolder:
        folder_is_safe(info.st_ino);
        break;
      case DirectoryRoot::Synced::kAll:
        everything_is_safe();
        break;
    }
    return 0;
  }

  /// The inode that a path has now; 0: none.
  uint64_t inode_of(const std::string& path) const {
    struct stat info {};
    return ::stat((live_ / path).c_str(), &info) == 0 ? info.st_ino : 0;
  }
  std::string content(uint64_t inode) {
    const std::lock_guard lock(mutex_);
    return files_[inode].content;
  }

  /// For DirectoryFiles::Options of the target: when a file was changed, by its inode there.
  std::map<uint64_t, int64_t> restored_changed() const { return restored_changed_; }

  /// Writes to `target` what is found there after the power is back.
  void lose_power(Random& random, const std::filesystem::path& target) {
    const std::lock_guard lock(mutex_);
    look_into(live_);
    placed_.clear();
    restored_changed_.clear();
    restore_folder(random, inode(live_), target);
    std::error_code absent;
    if (std::filesystem::exists(live_ / "@redo")) {
      std::filesystem::copy(live_ / "@redo", target / "@redo", absent);
    }
  }

 private:
  /// What an inode says beside its content.
  struct State {
    mode_t mode;
    timespec changed;
  };
  struct File {
    std::string content;
    timespec modified{};
    std::vector<State> states;  // that may be on the disk
    bool content_safe = false;
    bool ever_safe = false;
  };
  struct Folder {
    std::map<std::string, uint64_t> safe;
    std::map<std::string, uint64_t> now;
    std::map<std::string, std::vector<uint64_t>> since;  // states after `safe`; 0: absent
  };

  static uint64_t inode(const std::filesystem::path& path) {
    struct stat info {};
    return ::lstat(path.c_str(), &info) == 0 ? info.st_ino : 0;
  }

  void look_into(const std::filesystem::path& path) {
    std::map<std::string, uint64_t> now;
    std::error_code gone;
    for (const auto& entry : std::filesystem::directory_iterator(path, gone)) {
      const std::string name = entry.path().filename().string();
      if (name == "@redo") continue;
      struct stat info {};
      if (::lstat(entry.path().c_str(), &info) != 0) continue;
      now[name] = info.st_ino;
      if (S_ISDIR(info.st_mode)) {
        is_folder_.insert(info.st_ino);
        look_into(entry.path());
      } else {
        look_at_file(entry.path(), info);
      }
    }
    Folder& folder = folders_[inode(path)];
    for (const auto& [name, before] : folder.now) {
      if (!now.contains(name)) folder.since[name].push_back(0);
    }
    for (const auto& [name, after] : now) {
      const auto before = folder.now.find(name);
      if (before == folder.now.end() || before->second != after) {
        folder.since[name].push_back(after);
      }
    }
    folder.now = std::move(now);
  }

  void look_at_file(const std::filesystem::path& path, const struct stat& info) {
    File& file = files_[info.st_ino];
    if (file.states.empty() || file.content.size() != static_cast<size_t>(info.st_size)) {
      std::ifstream in(path, std::ios::binary);
      std::ostringstream content;
      content << in.rdbuf();
      file.content = content.str();
      file.modified = info.st_mtim;
    }
    if (file.states.empty() ||
        nanoseconds(file.states.back().changed) != nanoseconds(info.st_ctim)) {
      file.states.push_back({info.st_mode, info.st_ctim});
    }
  }

  void everything_is_safe() {
    for (auto& [inode, file] : files_) file_is_safe(inode);
    for (auto& [inode, folder] : folders_) folder_is_safe(inode);
  }
  void file_is_safe(uint64_t inode) {
    File& file = files_[inode];
    file.content_safe = file.ever_safe = true;
    if (!file.states.empty()) file.states = {file.states.back()};
  }
  void folder_is_safe(uint64_t inode) {
    folders_[inode].safe = folders_[inode].now;
    folders_[inode].since.clear();
  }

  void restore_folder(Random& random, uint64_t inode, const std::filesystem::path& target) {
    std::filesystem::create_directories(target);
    const Folder& folder = folders_[inode];
    std::set<std::string> names;
    for (const auto& [name, safe] : folder.safe) names.insert(name);
    for (const auto& [name, states] : folder.since) names.insert(name);
    for (const std::string& name : names) {
      const auto safe = folder.safe.find(name);
      std::vector<uint64_t> states{safe == folder.safe.end() ? 0 : safe->second};
      if (const auto since = folder.since.find(name); since != folder.since.end()) {
        states.insert(states.end(), since->second.begin(), since->second.end());
      }
      // Mostly the first or the last.
      const uint64_t drawn = random.below(3);
      const uint64_t chosen = drawn == 0   ? states.front()
                              : drawn == 1 ? states.back()
                                           : states[random.below(states.size())];
      if (chosen == 0 || name == "@tmp") continue;  // what lies there is nobody's
      if (!is_folder_.contains(chosen)) {
        restore_file(random, files_[chosen], target / name);
      } else if (placed_.insert(chosen).second) {
        restore_folder(random, chosen, target / name);
      }
    }
  }

  void restore_file(Random& random, const File& file, const std::filesystem::path& target) {
    std::string content = file.content;
    timespec modified = file.modified;
    const State& state = file.states[random.below(file.states.size())];
    if (!file.ever_safe && random.chance(1, 4)) return;  // a name without a file
    if (!file.content_safe) {
      if (&state == &file.states.front() && is_unsynced_mode(state.mode) && random.chance(1, 4))
        --modified.tv_sec;  // as it was made
      switch (random.below(4)) {
        case 0:
          content.resize(random.below(content.size() + 1));
          break;
        case 1:
          content.assign(content.size(), '\0');
          break;
        case 2:
          for (char& c : content) c = static_cast<char>('A' + random.below(26));
          break;
        default:
          break;
      }
    }
    std::ofstream(target, std::ios::binary) << content;
    ::chmod(target.c_str(), state.mode & 07777);
    const timespec times[2] = {{0, UTIME_OMIT}, modified};
    ::utimensat(AT_FDCWD, target.c_str(), times, 0);
    restored_changed_[inode(target)] = nanoseconds(state.changed);
  }
  static bool is_unsynced_mode(mode_t mode) {
    struct stat info {};
    info.st_mode = mode;
    return is_unsynced(info);
  }

  const std::filesystem::path live_;
  std::mutex mutex_;
  std::map<uint64_t, File> files_;
  std::map<uint64_t, Folder> folders_;
  std::set<uint64_t> is_folder_;
  std::set<uint64_t> placed_;
  std::map<uint64_t, int64_t> restored_changed_;
};

}  // namespace morula
