// What all parts of the directory store share: the root, and which folders are durable.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/rt/store.hpp"
#include "prod/posix_file.hpp"

namespace morula {

struct DirectoryRoot;
class RedoKeeper;

/// Makes names durable: fsync of folders, and of the way to them. Thread-safe.
///
/// A version of a swapped object is linked first and its folder synced after, so others can see it
/// before it would survive a loss of power, for as long as its writer is stopped between the two.
/// Who builds on it (a reader of a document, a writer that finds its condition failed) syncs the
/// folder itself first; `sync_if_younger` leaves that out where this process has synced it since.
/// Objects that were created carry a sign instead, see directory_settling.hpp.
class FolderSync {
 public:
  /// 0 or the errno. The first time that a folder is met, also the folders above it.
  int sync(const DirectoryRoot& root, const std::string& folder);
  /// `changed`: ctime of the object, in ns.
  int sync_if_younger(const DirectoryRoot& root, const std::string& folder, int64_t changed);

 private:
  std::mutex mutex_;
  struct Known {
    uint64_t inode = 0;
    int64_t synced = 0;  // when the last sync began, ns
  };
  std::map<std::string, Known> known_;
};

/// Where this process writes objects before they have their names: a folder of its own in @tmp, and
/// after some thousand objects another one. ext4 keeps a file's inode near the folder that it was
/// made in, and without a journal looks at each one there that was freed lately before it gives one
/// out: where a trim has just freed thousands, a new file takes a millisecond of processor time.
/// Thread-safe.
class DraftFolders {
 public:
  /// A path for a new file. Its folder may be absent, at first or because it was swept.
  std::string next_path(int root);
  /// Removes the folders, once nobody writes there.
  void remove(int root);

 private:
  std::mutex mutex_;
  uint64_t drawn_ = 0;
  std::string folder_;
  std::string folder_before_;  // others may be about to write there
};

struct DirectoryRoot {
  DirectoryRoot();
  ~DirectoryRoot();

  UniqueFd fd;
  std::string path;
  FolderSync folders;
  DraftFolders drafts;
  std::unique_ptr<RedoKeeper> redo;  // null: neither read nor written
  bool exact_times = false;          // the file system keeps the ns that a writer sets
  /// Tests stop or kill the process at a named place, and show a folder that changes while it is
  /// read. Empty otherwise.
  std::function<void(std::string_view place)> at_place;
  std::function<void(const std::string& folder, std::vector<FolderEntry>& entries)> at_listing;
  /// Tests play a loss of power: they are told what has just become safe from it, a file or folder
  /// by its descriptor, or everything. What they return is the call's errno.
  enum class Synced : uint8_t { kFile, kFolder, kAll };
  std::function<int(Synced what, int fd)> at_sync;
  /// Tests that restore files can't set their ctime, ns.
  std::function<int64_t(const struct stat& info)> changed_at;

  /// fsync, of a folder by its path, or of the whole file system. 0 or the errno.
  int sync_file(int file) const;
  int sync_folder(const std::string& folder, uint64_t* inode = nullptr) const;
  int sync_all() const;

  /// The path as a person would type it.
  std::string full(const std::string& relative) const { return path + "/" + relative; }
  void reached(std::string_view place) const {
    if (at_place) at_place(place);
  }
  /// read_folder, below the root.
  int list(const std::string& folder, std::vector<FolderEntry>& entries) const {
    const int error = read_folder(fd.get(), folder, entries);
    if (error == 0 && at_listing) at_listing(folder, entries);
    return error;
  }
};

/// A new file at `path` with `body`, synced if `mode` doesn't say otherwise (is_unsynced); its name
/// is not. Leaves nothing behind on an error; kNotFound when the folder is absent.
struct NewFile {
  UniqueFd file;
  timespec modified{};  // as its writer set it
};
Result<NewFile> write_new_file(const DirectoryRoot& root, const std::string& path,
                               std::string_view body, mode_t mode);
/// fstat.
Result<struct stat> look_at(const DirectoryRoot& root, const std::string& path, int file);

/// The draft gets the name if nobody has it; EEXIST otherwise. 0 or the errno.
int name_draft(int root, const std::string& draft, const std::string& path);

/// mkdir -p below the root. kDenied, kFull, kInvalid (a part is an object), kUnavailable.
Result<> make_folders(const DirectoryRoot& root, const std::string& folder);

/// Takes a folder out of use atomically, then deletes it with its files, ascending by name. Absent
/// is fine.
Result<> remove_folder(const DirectoryRoot& root, const std::string& folder);

/// What is told of an object whose content the file is.
ObjectInfo info_of(std::string key, const struct stat& info);

/// What a file's content is compared by: never the same for two files, ever.
std::string etag_of(const struct stat& info);

}  // namespace morula
