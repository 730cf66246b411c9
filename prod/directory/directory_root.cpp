#include "prod/directory/directory_root.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <vector>

#include "prod/directory/directory_names.hpp"
#include "prod/directory/directory_settling.hpp"
#include "prod/directory/redo_keeper.hpp"

namespace morula {
namespace {

constexpr size_t kFoldersKnownMax = 4096;
// Half of what ext4 keeps together.
constexpr uint64_t kDraftsPerFolder = 4096;

int64_t coarse_now() {
  // The kernel stamps files with this clock.
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return nanoseconds(now);
}

}  // namespace

DirectoryRoot::DirectoryRoot() = default;

DirectoryRoot::~DirectoryRoot() = default;

int DirectoryRoot::sync_file(int file) const {
  if (::fsync(file) != 0) return errno;
  return at_sync ? at_sync(Synced::kFile, file) : 0;
}

int DirectoryRoot::sync_folder(const std::string& folder, uint64_t* inode) const {
  const UniqueFd opened(::openat(fd.get(), folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  struct stat info {};
  if (!opened || ::fstat(opened.get(), &info) != 0 || ::fsync(opened.get()) != 0) return errno;
  if (inode != nullptr) *inode = info.st_ino;
  return at_sync ? at_sync(Synced::kFolder, opened.get()) : 0;
}

int DirectoryRoot::sync_all() const {
  // Without a journal, ext4 flushes the disk's cache before it has written the last of the folders:
  // the second call flushes those.
  if (::syncfs(fd.get()) != 0 || ::syncfs(fd.get()) != 0) return errno;
  return at_sync ? at_sync(Synced::kAll, fd.get()) : 0;
}

int FolderSync::sync(const DirectoryRoot& root, const std::string& folder) {
  const int64_t begun = coarse_now();
  uint64_t inode = 0;
  if (const int error = root.sync_folder(folder, &inode)) return error;
  bool first = false;
  {
    // A folder that was removed and made again has a new name in the one above.
    const std::lock_guard lock(mutex_);
    const auto found = known_.find(folder);
    first = found == known_.end() || found->second.inode != inode;
  }
  if (first && folder != ".") {
    if (const int error = sync(root, folder_of(folder))) return error;
  }
  const std::lock_guard lock(mutex_);
  if (known_.size() >= kFoldersKnownMax) known_.clear();
  Known& known = known_[folder];
  known = {inode, std::max(known.synced, begun)};
  return 0;
}

int FolderSync::sync_if_younger(const DirectoryRoot& root, const std::string& folder,
                                int64_t changed) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = known_.find(folder);
    if (found != known_.end() && changed < found->second.synced) return 0;
  }
  return sync(root, folder);
}

std::string DraftFolders::next_path(int root) {
  const std::lock_guard lock(mutex_);
  if (drawn_++ % kDraftsPerFolder == 0) {
    if (!folder_before_.empty()) ::unlinkat(root, folder_before_.c_str(), AT_REMOVEDIR);
    folder_before_ = std::move(folder_);
    folder_ = fmt::format("{}/drafts-{}", kTemporaryFolder, random_name());
  }
  return fmt::format("{}/{}", folder_, drawn_);
}

void DraftFolders::remove(int root) {
  const std::lock_guard lock(mutex_);
  for (const std::string* folder : {&folder_before_, &folder_}) {
    if (!folder->empty()) ::unlinkat(root, folder->c_str(), AT_REMOVEDIR);
  }
}

Result<NewFile> write_new_file(const DirectoryRoot& root, const std::string& path,
                               std::string_view body, mode_t mode) {
  UniqueFd file(
      ::openat(root.fd.get(), path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
  if (!file) return fail(file_error(errno, "create " + root.full(path)));
  int error = write_all(file.get(), body);
  // The kernel stamps files in steps of some ms; the exact time keeps two files apart that get the
  // same inode one after the other.
  timespec times[2] = {{0, UTIME_OMIT}, {}};
  ::clock_gettime(CLOCK_REALTIME, &times[1]);
  if (error == 0 && ::futimens(file.get(), times) != 0) error = errno;
  if (error == 0 && mode != kUnsyncedMode) error = root.sync_file(file.get());
  if (error == 0) return NewFile{std::move(file), times[1]};
  ::unlinkat(root.fd.get(), path.c_str(), 0);
  return fail(file_error(error, "write " + root.full(path)));
}

int name_draft(int root, const std::string& draft, const std::string& path) {
  if (::renameat2(root, draft.c_str(), root, path.c_str(), RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return errno;
  // A file system that can't rename so.
  if (::linkat(root, draft.c_str(), root, path.c_str(), 0) != 0) return errno;
  ::unlinkat(root, draft.c_str(), 0);
  return 0;
}

Result<struct stat> look_at(const DirectoryRoot& root, const std::string& path, int file) {
  struct stat info {};
  if (::fstat(file, &info) != 0) return fail(file_error(errno, "look at " + root.full(path)));
  return info;
}

Result<> make_folders(const DirectoryRoot& root, const std::string& folder) {
  if (folder == ".") return {};
  if (::mkdirat(root.fd.get(), folder.c_str(), 0750) == 0) return {};
  if (errno == ENOENT) {
    MORULA_TRY(make_folders(root, folder_of(folder)));
    if (::mkdirat(root.fd.get(), folder.c_str(), 0750) == 0) return {};
  }
  if (errno == ENOENT) {
    return fail(ErrorCode::kUnavailable, "the store's directory " + root.path + " was removed");
  }
  if (errno != EEXIST) return fail(file_error(errno, "create the folder " + root.full(folder)));
  struct stat info {};
  if (::fstatat(root.fd.get(), folder.c_str(), &info, 0) == 0 && !S_ISDIR(info.st_mode)) {
    return fail(file_error(ENOTDIR, "create the folder " + root.full(folder)));
  }
  return {};
}

Result<> remove_folder(const DirectoryRoot& root, const std::string& folder) {
  MORULA_TRY(make_folders(root, kTemporaryFolder));
  const std::string gone = fmt::format("{}/gone-{}", kTemporaryFolder, random_name());
  if (::renameat(root.fd.get(), folder.c_str(), root.fd.get(), gone.c_str()) != 0) {
    if (errno == ENOENT) return {};
    return fail(file_error(errno, "move " + root.full(folder) + " away"));
  }
  std::vector<FolderEntry> entries;
  if (const int error = root.list(gone, entries)) {
    return fail(file_error(error, "read the folder " + root.full(gone)));
  }
  std::sort(entries.begin(), entries.end(), [](const FolderEntry& a, const FolderEntry& b) {
    return a.name.size() != b.name.size() ? a.name.size() < b.name.size() : a.name < b.name;
  });
  for (const FolderEntry& entry : entries) {
    ::unlinkat(root.fd.get(), (gone + "/" + entry.name).c_str(), 0);
  }
  // What stays behind here is swept at the next start.
  ::unlinkat(root.fd.get(), gone.c_str(), AT_REMOVEDIR);
  return {};
}

ObjectInfo info_of(std::string key, const struct stat& info) {
  return {std::move(key), static_cast<uint64_t>(info.st_size), etag_of(info),
          WallTime{nanoseconds(info.st_mtim) / 1'000'000}};
}

std::string etag_of(const struct stat& info) {
  return fmt::format("{:x}-{:x}-{:x}", info.st_ino, nanoseconds(info.st_mtim), info.st_size);
}

}  // namespace morula
