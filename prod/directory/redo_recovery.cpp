#include "prod/directory/redo_recovery.hpp"

#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <set>
#include <thread>
#include <vector>

#include "prod/directory/directory_names.hpp"
#include "prod/directory/directory_settling.hpp"
#include "prod/directory/redo_log.hpp"
#include "prod/directory/redo_record.hpp"

namespace morula {
namespace {

constexpr mode_t kRecoveredMode = 0640;

/// The names of logs, by whether they are of this boot.
struct LogNames {
  std::vector<std::string> of_this;
  std::vector<std::string> of_others;
};

Result<LogNames> log_names(const DirectoryRoot& root, const std::string& boot) {
  std::vector<FolderEntry> entries;
  LogNames logs;
  if (const int error = read_folder(root.fd.get(), kRedoFolder, entries)) {
    if (error == ENOENT) return logs;
    return fail(file_error(error, "read the folder " + root.full(kRedoFolder)));
  }
  for (const FolderEntry& entry : entries) {
    const auto name = parse_redo_file_name(entry.name);
    if (name) (name->boot == boot ? logs.of_this : logs.of_others).push_back(entry.name);
  }
  std::sort(logs.of_others.begin(), logs.of_others.end());
  return logs;
}

/// Where an object's record lies.
struct Place {
  size_t log = 0;
  uint64_t offset = 0;
  uint64_t bytes = 0;
  FileIdentity file;
  int64_t named = 0;
};

/// What all logs together say.
class Records {
 public:
  explicit Records(const DirectoryRoot& root) : root_(root) {}

  /// kBusy when its owner lives, although the log is of another boot.
  Result<> read_log(const std::string& name) {
    const std::string path = fmt::format("{}/{}", kRedoFolder, name);
    logs_.push_back({UniqueFd(::openat(root_.fd.get(), path.c_str(), O_RDONLY | O_CLOEXEC)), path});
    const int log = logs_.back().file.get();
    struct stat info {};
    if (log < 0 || ::fstat(log, &info) != 0) {
      return fail(file_error(errno, "read the redo log " + root_.full(path)));
    }
    if (::flock(log, LOCK_EX | LOCK_NB) != 0) {
      return fail(ErrorCode::kBusy,
                  root_.full(path) +
                      " is of another start of the machine, but its owner lives: the directory is "
                      "shared with another machine, or with containers that have boot ids of "
                      "their own (/proc/sys/kernel/random/boot_id); give each its own directory");
    }
    if (name.ends_with(".new")) return {};
    const uint64_t id = parse_redo_file_name(name)->log;
    const uint64_t half = static_cast<uint64_t>(info.st_size) / 2;
    for (const uint64_t begin : {uint64_t{0}, half}) MORULA_TRY(read_segment(id, begin, half));
    return {};
  }

  /// Rule 1.
  std::map<std::string, Place> that_count() const {
    std::map<std::string, Place> latest;
    for (const auto& [path, places] : objects_) {
      for (const Place& place : places) {
        if (voids_.contains({path, place.file})) continue;
        const auto [found, first] = latest.emplace(path, place);
        if (!first && place.named > found->second.named) found->second = place;
      }
    }
    return latest;
  }

  const std::vector<RedoVoid>& removals() const { return removals_; }

  Result<std::string> body(const Place& place) const {
    std::string bytes;
    const Log& log = logs_[place.log];
    if (const int error = read_at(log.file.get(), place.offset, place.bytes, bytes)) {
      return fail(file_error(error, "read the redo log " + root_.full(log.path)));
    }
    const auto parsed = parse_redo(bytes);
    const auto* object = parsed ? std::get_if<RedoObject>(&parsed->what) : nullptr;
    if (object == nullptr) return fail(ErrorCode::kCorrupt, root_.full(log.path) + " has changed");
    return std::string(object->body);
  }

 private:
  struct Log {
    UniqueFd file;
    std::string path;
  };
  struct Found {
    uint64_t offset;
    ParsedRedo record;
  };

  Result<> read_segment(uint64_t id, uint64_t begin, uint64_t size) {
    std::string bytes;
    const Log& log = logs_.back();
    if (const int error = read_at(log.file.get(), begin, size, bytes)) {
      return fail(file_error(error, "read the redo log " + root_.full(log.path)));
    }
    std::vector<Found> found;
    uint64_t newest = 0;
    for (size_t at = 0; at < bytes.size();) {
      auto record = parse_redo(std::string_view(bytes).substr(at));
      if (!record || record->frame.log != id) {
        at += kRedoBlock;
        continue;
      }
      const size_t length = record->bytes;
      // Later uses have higher numbers; the head names the current one, unless it is damaged.
      newest = std::max(newest, record->frame.generation);
      found.push_back({begin + at, std::move(*record)});
      at += length;
    }
    for (Found& one : found) {
      if (one.record.frame.generation == newest) add(one);
    }
    return {};
  }

  void add(Found& found) {
    if (auto* object = std::get_if<RedoObject>(&found.record.what)) {
      if (!is_key_path(object->path)) return;
      objects_[object->path].push_back(
          {logs_.size() - 1, found.offset, found.record.bytes, object->file, object->named});
    } else if (auto* voids = std::get_if<std::vector<RedoVoid>>(&found.record.what)) {
      for (RedoVoid& gone : *voids) {
        voids_.emplace(gone.path, gone.file);
        if (gone.removed && is_key_path(gone.path)) removals_.push_back(std::move(gone));
      }
    }
  }

  const DirectoryRoot& root_;
  std::vector<Log> logs_;
  std::map<std::string, std::vector<Place>> objects_;
  std::set<std::pair<std::string, FileIdentity>> voids_;
  std::vector<RedoVoid> removals_;
};

class Recovery {
 public:
  Recovery(const DirectoryRoot& root, const Records& records,
           const std::function<void(std::string_view, std::string_view)>& trouble)
      : root_(root), records_(records), trouble_(trouble) {}

  Result<> run() {
    const auto counting = records_.that_count();
    for (const auto& [path, place] : counting) {
      const auto swapped = has_versions(path);
      MORULA_TRY(swapped);
      if (!*swapped) MORULA_TRY(write_again(path, place));
    }
    for (const RedoVoid& gone : records_.removals()) {
      if (counting.contains(gone.path)) continue;
      const auto swapped = has_versions(gone.path);
      MORULA_TRY(swapped);
      if (!*swapped) MORULA_TRY(remove(gone));
    }
    return remove_unsynced(".");
  }

  int written = 0;
  int removed = 0;

 private:
  Result<bool> has_versions(const std::string& path) const {
    return exists_at(root_.fd.get(), versions_of(path));
  }

  /// False when nothing is there.
  Result<bool> look(const std::string& path, struct stat& info) const {
    if (::fstatat(root_.fd.get(), path.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0) return true;
    if (errno == ENOENT || errno == ENOTDIR) return false;
    return fail(file_error(errno, "look at " + root_.full(path)));
  }

  /// Rule 2.
  Result<> write_again(const std::string& path, const Place& place) {
    const auto body = records_.body(place);
    if (!body) return fail(body.error());
    UniqueFd file(
        ::openat(root_.fd.get(), path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (!file) {
      if (errno == ENOENT) return write(path, *body);
      if (errno != ENOTDIR && errno != ELOOP && errno != ENXIO) {
        return fail(file_error(errno, "open " + root_.full(path)));
      }
      return something_else(path);
    }
    const auto info = look_at(root_, path, file.get());
    if (!info) return fail(info.error());
    if (!S_ISREG(info->st_mode)) return something_else(path);
    std::string there;
    if (const int error = read_at(file.get(), 0, body->size() + 1, there)) {
      return fail(file_error(error, "read " + root_.full(path)));
    }
    if (there == *body) {
      if (is_settled(*info) || ::fchmod(file.get(), kRecoveredMode) == 0) return {};
      return fail(file_error(errno, "change the mode of " + root_.full(path)));
    }
    if (is_of_a_later_life(*info, place)) {
      trouble_(root_.full(path), "is kept as it is: it came after what the redo log has");
      return {};
    }
    return write(path, *body);
  }

  Result<> something_else(const std::string& path) const {
    trouble_(root_.full(path), "is not written again: something else lies there");
    return {};
  }

  /// Another file than the record's that was named after it. One whose name or content was synced
  /// was so after it had the name, so its ctime is on the disk too. If the inode on the disk is
  /// older than that, it is marked as unsynced, and may be the record's own.
  bool is_of_a_later_life(const struct stat& info, const Place& place) const {
    if (is_unsynced(info) || nanoseconds(info.st_mtim) == place.file.modified) return false;
    const int64_t changed = root_.changed_at ? root_.changed_at(info) : nanoseconds(info.st_ctim);
    return std::max(nanoseconds(info.st_mtim), changed) > place.named;
  }

  /// Nobody else gives names meanwhile.
  Result<> write(const std::string& path, std::string_view body) {
    MORULA_TRY(make_folders(root_, folder_of(path)));
    const std::string draft = fmt::format("{}/recovered-{}", kTemporaryFolder, random_name());
    const auto file = write_new_file(root_, draft, body, kRecoveredMode);
    if (!file) return fail(file.error());
    const int fd = root_.fd.get();
    if (::renameat(fd, draft.c_str(), fd, path.c_str()) != 0) {
      const int error = errno;
      ::unlinkat(fd, draft.c_str(), 0);
      return fail(file_error(error, "write again " + root_.full(path)));
    }
    ++written;
    return {};
  }

  /// Rule 3. The time tells the file: the inode is another one in a copy of the directory, and the
  /// size is smaller where the content is torn.
  Result<> remove(const RedoVoid& gone) {
    struct stat info {};
    const auto there = look(gone.path, info);
    MORULA_TRY(there);
    if (!*there) return {};
    if (!S_ISREG(info.st_mode) || nanoseconds(info.st_mtim) != gone.file.modified) return {};
    return unlink(gone.path);
  }

  /// Rule 4, for a folder and those below it.
  Result<> remove_unsynced(const std::string& folder) {
    std::vector<FolderEntry> entries;
    if (const int error = read_folder(root_.fd.get(), folder, entries)) {
      return fail(file_error(error, "read the folder " + root_.full(folder)));
    }
    for (const FolderEntry& entry : entries) {
      const bool own = entry.name == kTemporaryFolder || entry.name == kRedoFolder;
      if (folder == "." && own) continue;
      const std::string path = folder == "." ? entry.name : folder + "/" + entry.name;
      struct stat info {};
      const auto there = look(path, info);
      MORULA_TRY(there);
      if (!*there) continue;
      if (S_ISDIR(info.st_mode)) {
        if (segment_of_name(entry.name)) MORULA_TRY(remove_unsynced(path));
      } else if (S_ISREG(info.st_mode) && is_unsynced(info) && segment_of_name(entry.name)) {
        MORULA_TRY(unlink(path));
      }
    }
    return {};
  }

  Result<> unlink(const std::string& path) {
    if (::unlinkat(root_.fd.get(), path.c_str(), 0) != 0 && errno != ENOENT) {
      return fail(file_error(errno, "delete " + root_.full(path)));
    }
    ++removed;
    return {};
  }

  const DirectoryRoot& root_;
  const Records& records_;
  const std::function<void(std::string_view, std::string_view)>& trouble_;
};

/// The lock of those that recover, as long as the descriptor is open.
Result<UniqueFd> lock_recovery(const DirectoryRoot& root, std::chrono::milliseconds patience) {
  UniqueFd folder(::openat(root.fd.get(), kRedoFolder, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder) return fail(file_error(errno, "open the folder " + root.full(kRedoFolder)));
  constexpr auto kLookAgain = std::chrono::milliseconds(20);
  for (auto waited = std::chrono::milliseconds(0);; waited += kLookAgain) {
    if (::flock(folder.get(), LOCK_EX | LOCK_NB) == 0) return folder;
    if (errno != EWOULDBLOCK && errno != EINTR) {
      return fail(file_error(errno, "lock the folder " + root.full(kRedoFolder)));
    }
    if (waited >= patience) {
      return fail(ErrorCode::kBusy,
                  "another process recovers " + root.path +
                      " after a loss of power and does not get on; wake or end it (lslocks)");
    }
    std::this_thread::sleep_for(kLookAgain);
  }
}

}  // namespace

Result<bool> needs_recovery(const DirectoryRoot& root, const std::string& boot) {
  const auto logs = log_names(root, boot);
  MORULA_TRY(logs);
  return !logs->of_others.empty();
}

Result<> recover_after_power_loss(const DirectoryRoot& root, const RecoveryOptions& options) {
  const auto needed = needs_recovery(root, options.boot);
  MORULA_TRY(needed);
  if (!*needed) return {};
  const auto lock = lock_recovery(root, options.patience);
  if (!lock) return fail(lock.error());
  const auto logs = log_names(root, options.boot);
  MORULA_TRY(logs);
  if (logs->of_others.empty()) return {};  // another was faster
  if (!logs->of_this.empty()) {
    return fail(ErrorCode::kBusy,
                root.full(kRedoFolder) +
                    " holds logs of this start of the machine beside those of another: stop all "
                    "instances that use the directory, and move the newer logs away if none is "
                    "left");
  }
  Records records(root);
  for (const std::string& name : logs->of_others) MORULA_TRY(records.read_log(name));
  Recovery recovery(root, records, options.trouble);
  MORULA_TRY(recovery.run());
  if (const int error = root.sync_all()) {
    return fail(file_error(error, "sync the file system of " + root.path));
  }
  root.reached("recovered");
  // At once: of some of them, another recovery would conclude something else.
  MORULA_TRY(remove_folder(root, kRedoFolder));
  if (const int error = root.sync_folder(".")) {
    return fail(file_error(error, "sync the store's directory " + root.path));
  }
  options.trouble(root.path,
                  fmt::format("the machine stopped while this was in use; {} objects were written "
                              "again, {} that were not finished were deleted",
                              recovery.written, recovery.removed));
  return {};
}

}  // namespace morula
