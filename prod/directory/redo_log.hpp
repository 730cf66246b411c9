// One process's redo log: what lets a small object wait for the disk once.
//
// A new object needs its content on disk, and its name. Two waits; three where the folder is new.
// So a small one is only written to memory, named, and repeated in this log: a file that was laid
// out before, so that one write that waits for the disk is all. After a loss of power the log's
// records are carried out again (redo_recovery.hpp). When a segment of the log is full, the file
// system writes everything in its own time and order (a checkpoint: redo_keeper.hpp), and the
// segment is used again. There are two, so that puts go on meanwhile.
//
// What makes it safe beside other processes, with logs of their own, is told in
// directory_settling.hpp. Here lies one rule of it:
//
//   A segment is only used again when the file system was synced after the last holder of one of
//   its records had let go. A holder lets go when it has marked the object as settled.
//
// Writers do not wait for each other: each reserves a place and writes there. So a loss of power
// can leave a hole in front of a whole record, which counts.
//
// The owner holds a flock(2) on the file for as long as it lives, and nobody ever waits for that
// lock: who gets it knows that the owner is dead.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "core/base/result.hpp"
#include "prod/directory/directory_root.hpp"
#include "prod/directory/redo_record.hpp"
#include "prod/posix_file.hpp"

namespace morula {

class RedoLog;

/// Keeps the segment of a record from being used again. Movable; lets go when it is destroyed.
class RedoHold {
 public:
  RedoHold(RedoLog& log, int segment) : log_(&log), segment_(segment) {}
  RedoHold(RedoHold&& other) noexcept
      : log_(std::exchange(other.log_, nullptr)), segment_(other.segment_) {}
  RedoHold& operator=(RedoHold&&) = delete;
  ~RedoHold();

 private:
  RedoLog* log_;
  int segment_;
};

/// Thread-safe.
class RedoLog {
 public:
  /// A new one in @redo, named after the boot and drawn digits, locked and on disk when this
  /// returns. kFull also when it would take more than a quarter of the space that is left. Leaves
  /// nothing behind on an error.
  /// `on_change` is called, with the log locked, when a segment is full and when a write fails.
  static Result<std::unique_ptr<RedoLog>> create(const DirectoryRoot& root, const std::string& boot,
                                                 uint64_t segment_bytes,
                                                 std::function<void()> on_change);

  /// Writes a record; it survives a loss of power when this returns. kBusy: no room before the next
  /// checkpoint, nothing was written. Otherwise the log can't be written, and never again is: what
  /// it holds still counts.
  Result<RedoHold> append(const RedoContent& content);

  /// Whether a segment is full (or `also_unfinished`: has any record) and waits for a checkpoint.
  /// Puts go to the other one from now on.
  std::optional<int> segment_to_free(bool also_unfinished);
  /// Returns once nobody holds a record of the segment.
  void wait_until_let_go(int segment);
  /// After the checkpoint: the segment may be used again.
  Result<> free_segment(int segment);

  /// Of a write, since when there are none.
  std::optional<Error> failure() const;
  /// Whether any record was written since its segment was freed.
  bool any_record() const;
  /// When the last record was written, CLOCK_MONOTONIC, ns.
  int64_t last_append() const;
  const std::string& path() const { return path_; }

 private:
  friend class RedoHold;
  struct Segment {
    uint64_t generation = 0;
    uint64_t used = 0;  // bytes, from the segment's begin
    int holders = 0;
    bool free = true;  // may become the active one
  };

  RedoLog(const DirectoryRoot& root, uint64_t segment_bytes, std::function<void()> on_change)
      : root_(root), segment_bytes_(segment_bytes), on_change_(std::move(on_change)) {}
  Result<> lay_out(const std::string& boot);
  /// 0 or the errno.
  int write_segment_head(int segment, uint64_t generation);
  int write_at(uint64_t offset, const RedoFrame& frame, const RedoContent& content);
  bool switch_segments();
  void let_go(int segment);

  const DirectoryRoot& root_;
  const uint64_t segment_bytes_;
  const std::function<void()> on_change_;
  std::string path_;
  uint64_t id_ = 0;
  UniqueFd file_;

  mutable std::mutex mutex_;
  std::condition_variable let_go_;
  Segment segments_[2];
  int active_ = 0;
  uint64_t last_generation_ = 0;
  int64_t last_append_ = 0;
  std::optional<Error> failure_;
};

/// A file in @redo: `<boot>-<log>`, with ".new" while it is laid out, or ".kept" when a checkpoint
/// of it failed.
struct RedoFileName {
  std::string boot;
  uint64_t log = 0;
  std::string suffix;  // "", ".new", ".kept"
};
std::optional<RedoFileName> parse_redo_file_name(std::string_view name);

/// This boot of the machine; empty when it can't be told.
std::string boot_of_machine();

}  // namespace morula
