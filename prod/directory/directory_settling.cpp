#include "prod/directory/directory_settling.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "core/base/units.hpp"
#include "prod/directory/directory_names.hpp"
#include "prod/directory/redo_keeper.hpp"
#include "prod/directory/redo_log.hpp"

namespace morula {
namespace {

// Above it, the second write of the content costs more than the second wait for the disk.
constexpr uint64_t kRedoBodyMax = 256 * kKiB;
// A path has three kilobytes at most: a key has one, and %XX for a byte of it.
constexpr size_t kVoidsPerRecord = 200;

RedoLog* usable_log(DirectoryRoot& root) {
  return root.redo ? root.redo->log() : nullptr;
}

Result<> change_mode(const DirectoryRoot& root, const std::string& path, int file, mode_t mode) {
  if (::fchmod(file, mode & 07777) == 0) return {};
  if (errno == EPERM) return fail(file_error(errno, "change the mode of " + root.full(path)));
  return fail(unknown_file_error(errno, "change the mode of " + root.full(path)));
}

Result<> mark_settled(const DirectoryRoot& root, const std::string& path, int file,
                      const struct stat& info) {
  MORULA_TRY(
      change_mode(root, path, file, (info.st_mode | S_IWUSR) & ~static_cast<mode_t>(S_ISVTX)));
  root.reached("object settled");
  return {};
}

/// Whether any process may have had a record of an object with the same path.
bool logs_exist(const DirectoryRoot& root) {
  const auto folder = exists_at(root.fd.get(), kRedoFolder);
  return !folder || *folder;
}

Result<> settle_by_syncs(DirectoryRoot& root, const std::string& path, int file,
                         const struct stat& info) {
  const auto synced = [&](int error) -> Result<> {
    if (error == 0) return {};
    return fail(unknown_file_error(error, "sync " + root.full(path)));
  };
  if (is_unsynced(info)) {
    // The mode says that the content is on disk: first the one, then the other.
    MORULA_TRY(synced(root.sync_file(file)));
    MORULA_TRY(change_mode(root, path, file, info.st_mode | S_IWUSR));
    root.reached("content synced");
  }
  // The file's ctime tells recovery that it came after those that other logs have of the path.
  if (is_unsynced(info) || logs_exist(root)) MORULA_TRY(synced(root.sync_file(file)));
  const int error = root.folders.sync(root, folder_of(path));
  if (error != 0 && error != ENOENT) return synced(error);  // ENOENT: removed meanwhile
  root.reached("name synced");
  return mark_settled(root, path, file, info);
}

}  // namespace

bool settled_by_redo(DirectoryRoot& root, size_t bytes) {
  return bytes <= kRedoBodyMax && usable_log(root) != nullptr;
}

Result<> settle(DirectoryRoot& root, const std::string& path, int file, const struct stat& info,
                std::optional<std::string_view> body) {
  // Removed meanwhile: there is no name to make survive, and no record may bring it back.
  if (is_settled(info) || info.st_nlink == 0) return {};
  const auto size = static_cast<uint64_t>(info.st_size);
  RedoLog* const log = size <= kRedoBodyMax ? usable_log(root) : nullptr;
  if (log == nullptr) return settle_by_syncs(root, path, file, info);
  std::string read;
  if (!body) {
    if (const int error = read_at(file, 0, size, read)) {
      return fail(unknown_file_error(error, "read " + root.full(path)));
    }
    body = read;
  }
  if (body->size() != size) {
    return fail(ErrorCode::kCorrupt, root.full(path) + " was changed after it was named");
  }
  const auto hold = log->append(
      redo_content(RedoObject{path, identity_of(info), nanoseconds(info.st_ctim), *body}));
  // Full, or broken: the disk itself can still take it.
  if (!hold) return settle_by_syncs(root, path, file, info);
  root.reached("record written");
  return mark_settled(root, path, file, info);
}

bool write_voids(DirectoryRoot& root, std::span<const RedoVoid> voids) {
  RedoLog* const log = usable_log(root);
  if (log == nullptr) return false;
  for (size_t i = 0; i < voids.size(); i += kVoidsPerRecord) {
    const auto part = voids.subspan(i, std::min(kVoidsPerRecord, voids.size() - i));
    if (!log->append(redo_content(part))) return false;
  }
  return true;
}

}  // namespace morula
