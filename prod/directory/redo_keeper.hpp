// The redo logs of a store's directory, from this process's side: its own, and those of the dead.
//
// A thread of its own lays out the log when the first object is created, makes checkpoints, and
// deletes what dead processes of this boot have left: whatever they named lies in the kernel's
// memory, so a sync of the file system is all that their logs were for. Puts never wait for it:
// while there is no log, or both of its segments wait for a checkpoint, they sync by themselves.
//
// When a checkpoint fails, nobody knows what did not get to the disk: the log is kept for the next
// boot's recovery, the error is told once, and from then on every put syncs by itself.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "core/base/result.hpp"
#include "prod/directory/directory_root.hpp"
#include "prod/directory/redo_log.hpp"

namespace morula {

class RedoKeeper {
 public:
  struct Options {
    bool use = true;  // false: no log of its own
    std::string boot;
    uint64_t segment_bytes = 0;
    std::chrono::milliseconds idle_after{};  // without a put for so long, a checkpoint
    /// As DirectoryFiles::Options.
    std::function<void(std::string_view path, std::string_view why)> trouble;
  };

  /// `root` outlives it.
  RedoKeeper(const DirectoryRoot& root, Options options);
  /// Nobody uses the log any more. Makes a last checkpoint, and deletes the log.
  ~RedoKeeper();
  RedoKeeper(const RedoKeeper&) = delete;
  RedoKeeper& operator=(const RedoKeeper&) = delete;

  /// The log to write to, valid as long as the keeper; null when there is none. The first call has
  /// one laid out, later.
  RedoLog* log();
  /// Lays it out now.
  void begin_at_once();
  /// Has the logs of dead processes deleted, soon and again and again, if there are logs.
  void clean_after_the_dead();

 private:
  void lay_out_log();
  void start_thread();
  void run();
  void look_after_log();
  Result<> free_full_segments(bool also_unfinished);
  void keep_for_good(const Error& error);
  void delete_logs_of_the_dead();
  void close_log();

  const DirectoryRoot& root_;
  const Options options_;
  std::unique_ptr<RedoLog> log_;
  std::atomic<RedoLog*> ready_{nullptr};
  std::atomic<bool> wanted_{false};
  bool given_up_ = false;
  bool kept_ = false;

  std::mutex mutex_;
  std::condition_variable wake_;
  bool changed_ = false;
  bool closing_ = false;
  std::thread thread_;
};

}  // namespace morula
