// After a loss of power: what the redo logs say is carried out, and what nobody relied on goes.
//
// A log of another boot of the machine means that its owner did not end well before the machine
// stopped (or that the directory was copied from elsewhere, which is treated alike). Why the rules
// below give back exactly what was built on is told in directory_settling.hpp.
//
//   1. Of each path, the record that counts: no log has a `void` of its file; the one named last,
//      if there are several (each but the last was removed, by a removal that was not answered).
//   2. Unless the path has versions, its file is written again if it is absent or differs, and
//      marked as settled. It stays as it is when it is another one than the record's that was named
//      later: by another life of the path, too large for a log, or of a process without one.
//   3. Without such a record, a file that is a void's is removed.
//   4. Every other file that is still marked as unsynced is removed.
//   5. The file system is synced, then the logs are deleted, and their folder is synced.
//
// Each step can be repeated, so a loss of power, or a kill, in the middle does no harm. Processes
// that start meanwhile wait (flock) for the one that recovers, for some seconds, and then end with
// an error: this is the one place where a stopped process holds others up. It can't be otherwise:
// if two recovered at once, one that slept would undo what came after the other.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "prod/directory/directory_root.hpp"

namespace morula {

struct RecoveryOptions {
  std::string boot;                                               // this one
  std::chrono::milliseconds patience = std::chrono::seconds(10);  // for another that recovers
  std::function<void(std::string_view path, std::string_view why)> trouble;
};

/// Whether there are logs of another boot.
Result<bool> needs_recovery(const DirectoryRoot& root, const std::string& boot);

/// Nothing to do is fine. Errors: what the disk says; kBusy when another process that recovers does
/// not get on, or when somebody of another boot is alive. Tells `trouble` what it has done.
Result<> recover_after_power_loss(const DirectoryRoot& root, const RecoveryOptions& options);

}  // namespace morula
