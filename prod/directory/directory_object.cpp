#include "prod/directory/directory_object.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <ctime>
#include <optional>
#include <vector>

#include "prod/directory/directory_names.hpp"
#include "prod/directory/directory_settling.hpp"

namespace morula {
namespace {

// Each repeat means that another process has made progress (or that the folder is damaged).
constexpr int kAttemptsMax = 1000;
// Each repeat makes a folder that was missing.
constexpr int kCreateAttemptsMax = 16;

constexpr mode_t kVersionMode = 0640;

std::string version_path(const std::string& path, uint64_t number) {
  return fmt::format("{}/{}", versions_of(path), number);
}

/// The number that a name in K@ begins with, and whether that is all of the name.
struct VersionName {
  uint64_t number;
  bool is_version;
};
std::optional<VersionName> parse_version_name(std::string_view name) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || number == 0 || name.front() == '0') return std::nullopt;
  const bool all = end == name.data() + name.size();
  if (!all && *end != '.') return std::nullopt;
  return VersionName{number, all};
}

uint64_t highest_version(const std::vector<FolderEntry>& entries) {
  uint64_t highest = 0;
  for (const FolderEntry& entry : entries) {
    const auto name = parse_version_name(entry.name);
    if (name && name->is_version) highest = std::max(highest, name->number);
  }
  return highest;
}

bool means_absent(int error_number) {
  return error_number == ENOENT || error_number == ENOTDIR;
}

/// kNotFound when absent or no regular file.
Result<CurrentObject> open_file(const DirectoryRoot& root, const std::string& path,
                                uint64_t number) {
  CurrentObject object;
  object.number = number;
  object.path = path;
  // A foreign pipe must not block the open.
  object.file.reset(
      ::openat(root.fd.get(), path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!object.file) {
    // A foreign link or socket is no object either.
    if (means_absent(errno) || errno == ELOOP || errno == ENXIO) {
      return fail(ErrorCode::kNotFound, "no such object");
    }
    return fail(file_error(errno, "open " + root.full(path)));
  }
  if (::fstat(object.file.get(), &object.info) != 0) {
    return fail(file_error(errno, "look at " + root.full(path)));
  }
  if (!S_ISREG(object.info.st_mode)) return fail(ErrorCode::kNotFound, "no such object");
  return object;
}

/// Makes K@ with version 1, the content of K, which is `plain` and is settled first. Fine when
/// somebody else was faster, or has put another file there.
Result<> begin_versions(DirectoryRoot& root, const std::string& path, const CurrentObject& plain) {
  MORULA_TRY(settle(root, path, plain.file.get(), plain.info));
  // The record counts no longer once there are versions.
  if (const int error = root.sync_file(plain.file.get())) {
    return fail(file_error(error, "sync " + root.full(path)));
  }
  const std::string prepared = fmt::format("{}/versions-{}", kTemporaryFolder, random_name());
  const int fd = root.fd.get();
  MORULA_TRY(make_folders(root, kTemporaryFolder));
  if (::mkdirat(fd, prepared.c_str(), 0750) != 0) {
    return fail(file_error(errno, "create the folder " + root.full(prepared)));
  }
  const std::string first = prepared + "/1";
  const auto give_up = [&](Error error) -> Result<> {
    ::unlinkat(fd, first.c_str(), 0);
    ::unlinkat(fd, prepared.c_str(), AT_REMOVEDIR);
    return fail(std::move(error));
  };
  if (::linkat(fd, path.c_str(), fd, first.c_str(), 0) != 0) {
    const int error = errno;
    (void)give_up({});
    if (error == ENOENT) return {};
    return fail(file_error(error, "link " + root.full(path)));
  }
  struct stat linked {};
  if (::fstatat(fd, first.c_str(), &linked, AT_SYMLINK_NOFOLLOW) != 0 ||
      linked.st_ino != plain.info.st_ino) {
    (void)give_up({});
    return {};
  }
  if (const int error = root.sync_folder(prepared)) {
    return give_up(file_error(error, "sync the folder " + root.full(prepared)));
  }
  root.reached("versions prepared");
  // Takes the place of nothing, or of an empty folder, which K@ never is.
  if (::renameat(fd, prepared.c_str(), fd, versions_of(path).c_str()) != 0) {
    const int error = errno;
    (void)give_up({});
    if (error == EEXIST || error == ENOTEMPTY || error == ENOENT) return {};
    return fail(file_error(error, "create the folder " + root.full(versions_of(path))));
  }
  root.reached("versions begun");
  return {};
}

/// Step 6. What fails here is done by the next swap.
void retire_older(const DirectoryRoot& root, const std::string& path, uint64_t newest) {
  const int fd = root.fd.get();
  // Those that exist are contiguous: below the first gap there is nothing.
  uint64_t lowest = newest;
  for (; lowest > 1; --lowest) {
    const auto older = exists_at(fd, version_path(path, lowest - 1));
    if (!older) return;
    if (!*older) break;
  }
  std::vector<FolderEntry> entries;
  for (uint64_t number = lowest; number < newest; ++number) {
    root.reached("older version seen gone");
    if (root.list(versions_of(path), entries) != 0) return;
    root.reached("candidates listed");
    for (const FolderEntry& entry : entries) {
      const auto name = parse_version_name(entry.name);
      if (!name || name->is_version || name->number > newest) continue;
      const std::string candidate = versions_of(path) + "/" + entry.name;
      if (::unlinkat(fd, candidate.c_str(), 0) != 0 && errno != ENOENT) return;
    }
    root.reached("candidates deleted");
    if (::unlinkat(fd, version_path(path, number).c_str(), 0) != 0 && errno != ENOENT) return;
  }
}

/// Puts a copy of version `number` at K, for people. Its way leads through K@: once the object was
/// removed, and K@ with it, a late one finds nothing to rename.
void show_to_people(const DirectoryRoot& root, const std::string& path, uint64_t number) {
  const int fd = root.fd.get();
  const std::string version = version_path(path, number);
  const std::string copy = fmt::format("{}.{}", version, random_name());
  if (::linkat(fd, version.c_str(), fd, copy.c_str(), 0) != 0) return;
  root.reached("copy made");
  ::renameat(fd, copy.c_str(), fd, path.c_str());
  ::unlinkat(fd, copy.c_str(), 0);  // rename leaves it when both were the same file already
}

/// Nothing was done: the version that lies there counts, and must stay.
Result<Etag> condition_failed(DirectoryRoot& root, const std::string& path) {
  const auto there = open_current(root, path);
  if (there) {
    MORULA_TRY(make_durable(root, *there));
  } else if (there.error().code != ErrorCode::kNotFound) {
    return fail(there.error());
  }
  return fail(ErrorCode::kPreconditionFailed, "the condition of the put did not hold");
}

/// Whether an object lies there. kInvalid when the name is that of something else.
Result<bool> name_taken(const DirectoryRoot& root, const std::string& path) {
  struct stat info {};
  if (::fstatat(root.fd.get(), path.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0) {
    if (S_ISREG(info.st_mode)) return true;
    return fail(ErrorCode::kInvalid, root.full(path) + " exists and is no object");
  }
  if (!means_absent(errno)) return fail(file_error(errno, "look at " + root.full(path)));
  return exists_at(root.fd.get(), versions_of(path));
}

int64_t now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return nanoseconds(now);
}

/// fstat of a file that got its name between two times. But the kernel is not asked for times: once
/// it has told a ctime, the next change of the file gets a finer one, and that makes the next write
/// to the redo log update the log's own times, which ext4 without a journal then writes each time.
Result<struct stat> look_at_named(const DirectoryRoot& root, const std::string& path,
                                  const NewFile& file, int64_t before, int64_t after) {
  constexpr int64_t kNoPause = 1'000'000;  // ns
  struct statx known {};
  if (!root.exact_times || after < before || after - before > kNoPause ||
      ::statx(file.file.get(), "", AT_EMPTY_PATH,
              STATX_TYPE | STATX_MODE | STATX_NLINK | STATX_INO | STATX_SIZE, &known) != 0) {
    return look_at(root, path, file.file.get());
  }
  struct stat info {};
  info.st_mode = known.stx_mode;
  info.st_nlink = known.stx_nlink;
  info.st_ino = known.stx_ino;
  info.st_size = static_cast<off_t>(known.stx_size);
  info.st_mtim = file.modified;
  info.st_ctim = {after / 1'000'000'000, after % 1'000'000'000};
  return info;
}

/// The object is visible: whatever went wrong, it may have landed.
Error unknown(Error error) {
  error.code = ErrorCode::kUnavailable;
  return error;
}

/// Step 5. The first swap also makes K@'s own name durable, and from then on records of K count no
/// longer: they would bring it back once it is removed.
Result<> sync_swap(DirectoryRoot& root, const std::string& path, const CurrentObject& base) {
  int error = root.folders.sync(root, versions_of(path));
  if (error == 0 && base.number == 1) error = root.folders.sync(root, folder_of(path));
  if (error != 0) {
    return fail(unknown_file_error(error, "sync the folder " + root.full(versions_of(path))));
  }
  if (base.number == 1) {
    const RedoVoid superseded[] = {{path, identity_of(base.info), false}};
    (void)write_voids(root, superseded);
  }
  return {};
}

enum class Attempt : uint8_t { kAgain, kLinked };

/// Steps 2 to 4 for version `number + 1`.
Result<Attempt> link_next(const DirectoryRoot& root, const std::string& path, uint64_t number,
                          std::string_view body, Etag& etag) {
  const int fd = root.fd.get();
  const std::string next = version_path(path, number + 1);
  const std::string candidate = fmt::format("{}.{}", next, random_name());
  const auto written = write_new_file(root, candidate, body, kVersionMode);
  if (!written) {
    if (written.error().code == ErrorCode::kNotFound) return Attempt::kAgain;  // removed meanwhile
    return fail(written.error());
  }
  const auto info = look_at(root, candidate, written->file.get());
  if (!info) return fail(info.error());
  root.reached("candidate written");
  int error = EEXIST;
  const auto base = exists_at(fd, version_path(path, number));
  if (base && *base) {
    root.reached("base seen");
    error = ::linkat(fd, candidate.c_str(), fd, next.c_str(), 0) == 0 ? 0 : errno;
  }
  if (error == 0) root.reached("linked");
  ::unlinkat(fd, candidate.c_str(), 0);
  if (!base) return fail(base.error());
  if (error == EEXIST || error == ENOENT) return Attempt::kAgain;
  if (error != 0) return fail(file_error(error, "link " + root.full(next)));
  etag = etag_of(*info);
  return Attempt::kLinked;
}

}  // namespace

Result<CurrentObject> open_current(const DirectoryRoot& root, const std::string& path) {
  std::vector<FolderEntry> entries;
  bool seen = false;
  for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
    const int error = root.list(versions_of(path), entries);
    if (means_absent(error)) {
      auto plain = open_file(root, path, 0);
      if (plain || plain.error().code != ErrorCode::kNotFound) return plain;
      // Not absent while K@ is there: a removal that is not finished.
      const auto removing = exists_at(root.fd.get(), versions_of(path));
      if (!removing) return fail(removing.error());
      if (!*removing) return plain;
      continue;
    }
    if (error != 0) {
      return fail(file_error(error, "read the folder " + root.full(versions_of(path))));
    }
    const uint64_t highest = highest_version(entries);
    if (highest == 0) continue;
    seen = true;
    root.reached("version chosen");
    auto object = open_file(root, version_path(path, highest), highest);
    if (object || object.error().code != ErrorCode::kNotFound) return object;
  }
  if (seen) return fail(ErrorCode::kConflict, root.full(path) + " changes faster than it is read");
  return fail(ErrorCode::kCorrupt,
              root.full(versions_of(path)) + " holds no version; restore the folder's files");
}

Result<Etag> create_object_file(DirectoryRoot& root, const std::string& path,
                                std::string_view body) {
  const int fd = root.fd.get();
  for (int attempt = 0; attempt < kCreateAttemptsMax; ++attempt) {
    const auto taken = name_taken(root, path);
    if (!taken) return fail(taken.error());
    if (*taken) return condition_failed(root, path);
    const std::string draft = root.drafts.next_path(fd);
    const mode_t mode = settled_by_redo(root, body.size()) ? kUnsyncedMode : kUnnamedMode;
    const auto file = write_new_file(root, draft, body, mode);
    if (!file && file.error().code == ErrorCode::kNotFound) {
      MORULA_TRY(make_folders(root, folder_of(draft)));
      continue;
    }
    if (!file) return fail(file.error());
    root.reached("object written");
    const int64_t before = now_ns();
    const int error = name_draft(fd, draft, path);
    const int64_t after = now_ns();
    if (error != 0) ::unlinkat(fd, draft.c_str(), 0);
    if (error == EEXIST) return condition_failed(root, path);
    if (error == ENOENT) {  // no folder yet, or the file was swept as too old
      MORULA_TRY(make_folders(root, folder_of(path)));
      continue;
    }
    if (error != 0) return fail(file_error(error, "name " + root.full(path)));
    root.reached("object named");
    const auto info = look_at_named(root, path, *file, before, after);
    if (!info) return fail(unknown(info.error()));
    if (auto settled = settle(root, path, file->file.get(), *info, body); !settled) {
      return fail(unknown(std::move(settled.error())));
    }
    return etag_of(*info);
  }
  return fail(ErrorCode::kUnavailable, "the directory " + root.path + " was removed");
}

Result<Etag> swap_object_file(DirectoryRoot& root, const std::string& path, std::string_view body,
                              const Etag& base) {
  for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
    const auto current = open_current(root, path);
    if (!current) return fail(current.error());
    if (etag_of(current->info) != base) return condition_failed(root, path);
    if (current->number == 0) {
      MORULA_TRY(begin_versions(root, path, *current));
      continue;
    }
    root.reached("base chosen");
    Etag etag;
    const auto linked = link_next(root, path, current->number, body, etag);
    if (!linked) return fail(linked.error());
    if (*linked == Attempt::kAgain) continue;
    MORULA_TRY(sync_swap(root, path, *current));
    root.reached("swap synced");
    retire_older(root, path, current->number + 1);
    show_to_people(root, path, current->number + 1);
    return etag;
  }
  return fail(ErrorCode::kConflict, root.full(path) + " comes and goes; try again");
}

Result<Removal> remove_object_file(const DirectoryRoot& root, const std::string& path) {
  Removal removal;
  const auto unlink_plain = [&]() -> Result<> {
    struct stat info {};
    const bool there = ::fstatat(root.fd.get(), path.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0;
    if (::unlinkat(root.fd.get(), path.c_str(), 0) != 0) {
      if (means_absent(errno)) return {};
      return fail(file_error(errno, "delete " + root.full(path)));
    }
    if (there) removal.plain = RedoVoid{path, identity_of(info), true};
    root.reached("object unlinked");
    return {};
  };
  MORULA_TRY(unlink_plain());
  const auto versions = exists_at(root.fd.get(), versions_of(path));
  if (!versions) return fail(versions.error());
  if (!*versions) return removal;
  removal.had_versions = true;
  root.reached("plain file removed");
  MORULA_TRY(remove_folder(root, versions_of(path)));
  MORULA_TRY(unlink_plain());  // a swap may have put its copy there meanwhile
  return removal;
}

Result<> make_durable(DirectoryRoot& root, const CurrentObject& object,
                      std::optional<std::string_view> body) {
  if (object.number == 0) return settle(root, object.path, object.file.get(), object.info, body);
  const std::string folder = folder_of(object.path);
  const int error = root.folders.sync_if_younger(root, folder, nanoseconds(object.info.st_ctim));
  if (error == 0 || error == ENOENT) return {};  // ENOENT: removed meanwhile
  return fail(unknown_file_error(error, "sync the folder " + root.full(folder)));
}

}  // namespace morula
