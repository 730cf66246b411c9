// Object storage in a directory, for any number of processes of one machine: the blocking calls.
//
// How objects lie in files, and why no process ever waits for another, is told in
// directory_object.hpp; how keys become names in directory_names.hpp. The file system must have
// hard links and give O_EXCL, link and rename their POSIX meaning (ext4, xfs, btrfs, tmpfs do).
//
// A key can't be the folder of another ("a" and "a/b"): the second is refused with kInvalid.
#pragma once

#include <sys/stat.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/units.hpp"
#include "core/rt/store.hpp"

namespace morula {

struct CurrentObject;
struct DirectoryRoot;
struct FolderEntry;

/// Whether this process has a redo log (redo_log.hpp), so that a small put waits for the disk once.
enum class RedoUse : uint8_t {
  kAuto,    // where it is known to be safe and to help (ext4, xfs), laid out after the first put
  kOff,     // each put syncs file and folder
  kAtOnce,  // on any file system, laid out when the store is opened
};

/// Thread-safe. Every call may block on the disk. Errors as `Store` names them, with the path and
/// what to do in the message: kFull, kDenied, kInvalid, kBusy (descriptors), kUnavailable.
class DirectoryFiles {
 public:
  struct Options {
    /// Nothing is written, made or swept: puts and removes end with kDenied, and an absent
    /// directory is kNotFound. What is read may be younger than the disk's own flush of it.
    bool read_only = false;
    /// A name that is not ours; called once for each, from any thread.
    std::function<void(std::string_view path, std::string_view why)> foreign_name;
    /// So old a file in @tmp has no living writer, or one that can write it again.
    std::chrono::seconds swept_after = std::chrono::hours(1);
    RedoUse redo = RedoUse::kAuto;
    uint64_t redo_segment_bytes = 32 * kMiB;                               // a log has two
    std::chrono::milliseconds redo_idle_after = std::chrono::seconds(30);  // then it is emptied
    std::chrono::milliseconds recovery_patience = std::chrono::seconds(10);
    std::string boot;  // 32 hex digits of this boot of the machine; empty: as the kernel says
    /// What an operator should know; from any thread.
    std::function<void(std::string_view path, std::string_view why)> trouble;
    /// For tests, see DirectoryRoot.
    std::function<void(std::string_view place)> at_place;
    std::function<void(const std::string& folder, std::vector<FolderEntry>& entries)> at_listing;
    std::function<int(int kind, int fd)> at_sync;
    std::function<int64_t(const struct stat& info)> changed_at;
  };

  /// Makes the directory if it is absent, proves that this process may write there and that hard
  /// links exclude each other, recovers from a loss of power, and sweeps what dead writers left
  /// long ago.
  static Result<std::unique_ptr<DirectoryFiles>> open(const std::string& directory,
                                                      Options options);
  /// Deletes the redo log after a checkpoint, which may take some seconds.
  ~DirectoryFiles();

  Result<StoredObject> get(std::string_view key, std::optional<ByteRange> range);
  Result<ObjectInfo> head(std::string_view key);
  Result<Etag> put(std::string_view key, std::string_view body, const Precondition& precondition);
  Result<> remove(std::span<const std::string> keys);
  Result<Listing> list(std::string_view prefix, std::string_view start_after, size_t limit);

 private:
  explicit DirectoryFiles(Options options);
  Result<> prove_usable();
  Result<> begin_redo();
  void sweep_temporary();
  Result<> make_durable(const CurrentObject& object, std::optional<std::string_view> body = {});
  Result<Etag> put_anyway(const std::string& path, std::string_view body);

  Options options_;
  std::unique_ptr<DirectoryRoot> root_;
};

}  // namespace morula
