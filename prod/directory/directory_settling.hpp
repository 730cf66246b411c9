// From "others can see it" to "it survives a loss of power": objects that were created.
//
// An object has its name before it would survive, for as long as its creator is stopped between the
// two. Whoever builds on it (a reader, a lister, a writer that finds its condition failed) must
// know that, and make it survive first, without waiting for the creator. The file itself says so,
// in its mode, which is set when the file is made and so lies in the same inode as its content:
//
//   -r--r----T  named, but neither content nor name need survive ("unsynced")
//   -rw-r----T  named; the content is on disk, the name need not survive ("unnamed")
//   -rw-r-----  settled: it survives
//
// To settle it, a record of the object is written to the own redo log; without one (too large, no
// log, no room) content and folder are synced. Only then is the mode changed. Anybody may do so at
// any time and any number of times, since the content under a name never changes.
//
// Why what survives is what was built on. Let a file be named, and let the power fail.
// - It was seen as settled: then somebody had a record of it on disk, or had synced content and
//   name. If the record's segment has been used again, a checkpoint came between, begun after
//   that somebody had changed the mode: it made content, name and mode survive. Otherwise the
//   record is there, and recovery writes the object unless it is whole.
// - Nobody saw it as settled: nobody built on it, and its put was not answered. If its mode is
//   still "unsynced" on disk and no log has a record of it, its content may be torn: recovery
//   deletes it. If the mode is another, its content is whole, and it stays. If the inode did not
//   get to the disk, no file system shows the name.
//
// Removal: the file's name is taken away, then a `void` record of the file is written to the own
// log, which survives when the removal is answered. Recovery carries it out. So a removed object
// stays removed, with one exception: it can come back if another process's log has a record of it,
// of the time since that process's last checkpoint, and the remover had its own checkpoint since;
// or if the remover has no log, or no room in it. Nothing relies on a removal to last: what came
// back is collected again.
//
// Of two records of one path, the one named later counts, by the wall clock: it is taken that the
// clock is not set back between the removal of an object and another that gets its name. (The cell
// gives a name once.)
//
// Objects that are swapped have other rules: a version's content is synced before it has its name,
// and FolderSync is asked for the name. The first swap settles the object and syncs its content.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "prod/directory/directory_root.hpp"
#include "prod/directory/redo_record.hpp"

namespace morula {

inline constexpr mode_t kUnsyncedMode = S_ISVTX | S_IRUSR | S_IRGRP;
inline constexpr mode_t kUnnamedMode = kUnsyncedMode | S_IWUSR;

inline bool is_settled(const struct stat& info) {
  return (info.st_mode & S_ISVTX) == 0;
}
inline bool is_unsynced(const struct stat& info) {
  return !is_settled(info) && (info.st_mode & S_IWUSR) == 0;
}

/// Whether an object of `bytes` that is created now needs no sync, since `settle` will find a log.
bool settled_by_redo(DirectoryRoot& root, size_t bytes);

/// Makes the object at `path`, open as `file`, survive. `info`: of the file, once it had the name.
/// `body`: its content, if the caller has it. Errors: kDenied when the file belongs to another
/// user; otherwise the outcome is unknown.
Result<> settle(DirectoryRoot& root, const std::string& path, int file, const struct stat& info,
                std::optional<std::string_view> body = {});

/// Writes down that records of these files count no longer. False when there is no log for it: the
/// caller syncs folders.
bool write_voids(DirectoryRoot& root, std::span<const RedoVoid> voids);

}  // namespace morula
