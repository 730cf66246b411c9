#include "prod/directory/directory_files.hpp"

#include <fmt/format.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <sys/ioctl.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <filesystem>
#include <mutex>
#include <set>
#include <vector>

#include "prod/directory/directory_list.hpp"
#include "prod/directory/directory_names.hpp"
#include "prod/directory/directory_object.hpp"
#include "prod/directory/directory_settling.hpp"
#include "prod/directory/redo_keeper.hpp"
#include "prod/directory/redo_recovery.hpp"

namespace morula {
namespace {

// No object of a cell is nearly as large; a foreign file may be.
constexpr uint64_t kObjectBytesMax = 1024 * kMiB;
constexpr size_t kListMax = 1000;
constexpr size_t kWarningsMax = 100;
constexpr int kPutAttemptsMax = 100;

Error read_only_error(const DirectoryRoot& root) {
  return {ErrorCode::kDenied, root.path + " was opened to be read only"};
}

/// Asks ext4 to place what lies in a folder apart from its surroundings, see DraftFolders. A hint:
/// other file systems don't know it.
void place_apart(int root, const char* folder) {
  const UniqueFd fd(::openat(root, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  int flags = 0;
  if (!fd || ::ioctl(fd.get(), FS_IOC_GETFLAGS, &flags) != 0) return;
  flags |= FS_TOPDIR_FL;
  (void)::ioctl(fd.get(), FS_IOC_SETFLAGS, &flags);
}

/// On tmpfs nothing waits for a disk; of btrfs and others it was not tried.
bool redo_helps(int root) {
  constexpr unsigned long kXfsMagic = 0x58465342;
  struct statfs info {};
  if (::fstatfs(root, &info) != 0) return false;
  const auto type = static_cast<unsigned long>(info.f_type);
  return type == EXT4_SUPER_MAGIC || type == kXfsMagic;
}

}  // namespace

DirectoryFiles::DirectoryFiles(Options options)
    : options_(std::move(options)), root_(std::make_unique<DirectoryRoot>()) {
  root_->at_place = options_.at_place;
  root_->at_listing = options_.at_listing;
  if (options_.at_sync) {
    root_->at_sync = [told = options_.at_sync](DirectoryRoot::Synced what, int fd) {
      return told(static_cast<int>(what), fd);
    };
  }
  root_->changed_at = options_.changed_at;
  if (!options_.trouble) options_.trouble = [](std::string_view, std::string_view) {};
  if (options_.boot.empty()) options_.boot = boot_of_machine();
  if (options_.foreign_name) {
    // Each name once, and not without end.
    options_.foreign_name = [warn = std::move(options_.foreign_name),
                             mutex = std::make_shared<std::mutex>(),
                             seen = std::make_shared<std::set<std::string, std::less<>>>()](
                                std::string_view path, std::string_view why) {
      const std::lock_guard lock(*mutex);
      if (seen->size() < kWarningsMax && seen->emplace(path).second) warn(path, why);
    };
  }
}

DirectoryFiles::~DirectoryFiles() {
  root_->redo.reset();
  root_->drafts.remove(root_->fd.get());
}

Result<std::unique_ptr<DirectoryFiles>> DirectoryFiles::open(const std::string& directory,
                                                             Options options) {
  std::unique_ptr<DirectoryFiles> files(new DirectoryFiles(std::move(options)));
  DirectoryRoot& root = *files->root_;
  std::error_code error;
  root.path = std::filesystem::absolute(directory, error).lexically_normal().string();
  while (root.path.size() > 1 && root.path.ends_with('/')) root.path.pop_back();
  const bool read_only = files->options_.read_only;
  if (!read_only) std::filesystem::create_directories(root.path, error);
  if (error) {
    return fail(file_error(error.value(), "create the store's directory " + root.path));
  }
  root.fd.reset(::open(root.path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!root.fd) return fail(file_error(errno, "open the store's directory " + root.path));
  if (read_only) {
    const auto stale = needs_recovery(root, files->options_.boot);
    if (!stale) {
      files->options_.trouble(root.path, "whether what was written last is whole can't be told: " +
                                             stale.error().message);
    } else if (*stale) {
      files->options_.trouble(
          root.path,
          "the machine stopped while this was in use, and no instance was started since: "
          "what was written last may be missing or damaged");
    }
    return files;
  }
  place_apart(root.fd.get(), ".");
  MORULA_TRY(files->prove_usable());
  place_apart(root.fd.get(), kTemporaryFolder);
  MORULA_TRY(files->begin_redo());
  files->sweep_temporary();
  return files;
}

Result<> DirectoryFiles::begin_redo() {
  DirectoryRoot& root = *root_;
  const std::string& boot = options_.boot;
  if (boot.empty()) {
    // Whose logs lie there can't be told.
    const auto needed = needs_recovery(root, boot);
    MORULA_TRY(needed);
    if (!*needed) return {};
    return fail(ErrorCode::kUnsupported,
                root.full(kRedoFolder) +
                    " holds redo logs, but the kernel does not say which boot "
                    "this is; mount /proc");
  }
  MORULA_TRY(recover_after_power_loss(
      root, {.boot = boot, .patience = options_.recovery_patience, .trouble = options_.trouble}));
  RedoKeeper::Options keeping;
  // With coarse times, two files of one path could be taken for the same.
  keeping.use =
      root.exact_times && (options_.redo == RedoUse::kAtOnce ||
                           (options_.redo == RedoUse::kAuto && redo_helps(root.fd.get())));
  keeping.boot = boot;
  keeping.segment_bytes = options_.redo_segment_bytes;
  keeping.idle_after = options_.redo_idle_after;
  keeping.trouble = options_.trouble;
  root.redo = std::make_unique<RedoKeeper>(root, std::move(keeping));
  if (options_.redo == RedoUse::kAtOnce) root.redo->begin_at_once();
  root.redo->clean_after_the_dead();
  return {};
}

Result<> DirectoryFiles::prove_usable() {
  DirectoryRoot& root = *root_;
  const int fd = root.fd.get();
  MORULA_TRY(make_folders(root, kTemporaryFolder));
  const std::string probe = fmt::format("{}/probe-{}", kTemporaryFolder, random_name());
  const std::string second = probe + "-2";
  const auto written = write_new_file(root, probe, "probe", kUnnamedMode);
  if (!written) return fail(written.error());
  const auto info = look_at(root, probe, written->file.get());
  if (!info) return fail(info.error());
  root.exact_times = nanoseconds(info->st_mtim) == nanoseconds(written->modified);
  const int linked = ::linkat(fd, probe.c_str(), fd, second.c_str(), 0) == 0 ? 0 : errno;
  const int again = ::linkat(fd, probe.c_str(), fd, second.c_str(), 0) == 0 ? 0 : errno;
  ::unlinkat(fd, second.c_str(), 0);
  ::unlinkat(fd, probe.c_str(), 0);
  if (is_settled(*info)) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("the file system of {} does not keep a file's sticky bit; use a "
                            "directory on a local ext4, xfs, btrfs or tmpfs",
                            root.path));
  }
  if (linked != 0 || again != EEXIST) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("the file system of {} has no hard links that exclude each other ({}); "
                            "use a directory on a local ext4, xfs, btrfs or tmpfs",
                            root.path, strerrordesc_np(linked != 0 ? linked : again)));
  }
  if (const int error = root.folders.sync(root, kTemporaryFolder)) {
    return fail(file_error(error, "sync the store's directory " + root.path));
  }
  return {};
}

void DirectoryFiles::sweep_temporary() {
  const int fd = root_->fd.get();
  std::vector<FolderEntry> entries;
  if (root_->list(kTemporaryFolder, entries) != 0) return;
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  for (const FolderEntry& entry : entries) {
    const std::string path = fmt::format("{}/{}", kTemporaryFolder, entry.name);
    struct stat info {};
    if (::fstatat(fd, path.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (now.tv_sec - info.st_ctim.tv_sec < options_.swept_after.count()) continue;
    // Its writer may be asleep, not dead: it finds its file gone and writes another. A folder is
    // first moved away, so that nobody can put a half-emptied one in place.
    if (S_ISDIR(info.st_mode)) {
      (void)remove_folder(*root_, path);
    } else {
      ::unlinkat(fd, path.c_str(), 0);
    }
  }
}

Result<StoredObject> DirectoryFiles::get(std::string_view key, std::optional<ByteRange> range) {
  const auto path = path_of_key(key);
  if (!path) return fail(path.error());
  const auto object = open_current(*root_, *path);
  if (!object) return fail(object.error());
  const auto size = static_cast<uint64_t>(object->info.st_size);
  if (range && range->offset > 0 && range->offset >= size) {
    return fail(ErrorCode::kInvalid, fmt::format("range at {} of {}, which has {} bytes",
                                                 range->offset, root_->full(*path), size));
  }
  const uint64_t offset = range ? range->offset : 0;
  const uint64_t length = range ? std::min(range->length, size - offset) : size;
  if (length > kObjectBytesMax) {
    return fail(ErrorCode::kCorrupt, root_->full(*path) + " is larger than any object of a cell");
  }
  std::string body;
  if (const int error = read_at(object->file.get(), offset, length, body)) {
    return fail(file_error(error, "read " + root_->full(*path)));
  }
  if (body.size() != length) {
    return fail(ErrorCode::kCorrupt, root_->full(*path) + " was cut while it was read");
  }
  // Ranges are read of objects whose names were told only after their put was answered.
  if (!range) MORULA_TRY(make_durable(*object, body));
  return StoredObject{make_blob(std::move(body)), etag_of(object->info)};
}

Result<ObjectInfo> DirectoryFiles::head(std::string_view key) {
  const auto path = path_of_key(key);
  if (!path) return fail(path.error());
  const auto object = open_current(*root_, *path);
  if (!object) return fail(object.error());
  MORULA_TRY(make_durable(*object));
  return info_of(std::string(key), object->info);
}

Result<> DirectoryFiles::make_durable(const CurrentObject& object,
                                      std::optional<std::string_view> body) {
  if (options_.read_only) return {};
  return morula::make_durable(*root_, object, body);
}

Result<Etag> DirectoryFiles::put(std::string_view key, std::string_view body,
                                 const Precondition& precondition) {
  if (options_.read_only) return fail(read_only_error(*root_));
  const auto path = path_of_key(key);
  if (!path) return fail(path.error());
  switch (precondition.kind) {
    case Precondition::Kind::kIfAbsent:
      return create_object_file(*root_, *path, body);
    case Precondition::Kind::kIfMatch:
      return swap_object_file(*root_, *path, body, precondition.etag);
    case Precondition::Kind::kNone:
      return put_anyway(*path, body);
  }
  return fail(ErrorCode::kInvalid, "unknown precondition");
}

Result<Etag> DirectoryFiles::put_anyway(const std::string& path, std::string_view body) {
  for (int attempt = 0; attempt < kPutAttemptsMax; ++attempt) {
    const auto current = open_current(*root_, path);
    if (!current && current.error().code != ErrorCode::kNotFound) return fail(current.error());
    auto put = current ? swap_object_file(*root_, path, body, etag_of(current->info))
                       : create_object_file(*root_, path, body);
    if (put || (put.error().code != ErrorCode::kPreconditionFailed &&
                put.error().code != ErrorCode::kNotFound)) {
      return put;
    }
  }
  return fail(ErrorCode::kConflict, root_->full(path) + " is written by many at once; try again");
}

Result<> DirectoryFiles::remove(std::span<const std::string> keys) {
  if (options_.read_only) return fail(read_only_error(*root_));
  std::set<std::string> unsynced;
  std::set<std::string> folders;
  std::vector<RedoVoid> voids;
  Result<> outcome;
  for (const std::string& key : keys) {
    const auto path = path_of_key(key);
    Result<Removal> removed = path ? remove_object_file(*root_, *path) : fail(path.error());
    if (!removed && outcome) outcome = fail(removed.error());
    if (!path) continue;
    folders.insert(folder_of(*path));
    if (removed && removed->plain) voids.push_back(*removed->plain);
    // Another may have removed it, and not be done; and versions are in no log.
    if (!removed || !removed->plain || removed->had_versions) unsynced.insert(folder_of(*path));
  }
  if (!voids.empty() && !write_voids(*root_, voids)) unsynced = std::move(folders);
  for (const std::string& folder : unsynced) {
    const int error = root_->folders.sync(*root_, folder);
    if (error != 0 && error != ENOENT && error != ENOTDIR && outcome) {
      outcome = fail(unknown_file_error(error, "sync the folder " + root_->full(folder)));
    }
  }
  return outcome;
}

Result<Listing> DirectoryFiles::list(std::string_view prefix, std::string_view start_after,
                                     size_t limit) {
  return list_object_files(*root_, !options_.read_only, prefix, start_after,
                           std::min(limit, kListMax), [this](const std::string& path) {
                             if (!options_.foreign_name) return;
                             options_.foreign_name(root_->full(path), "no key has such a name");
                           });
}

}  // namespace morula
