// One object of a directory store: the protocol by which processes create, swap and read it without
// locks. Whoever is stopped or killed anywhere in it holds nobody up and harms nobody later.
//
// Files of an object K:
//   K           its first content; since the first swap a copy of a newer one, for people
//   K@/<n>      version n, from the first swap on
//   K@/<n>.<x>  a candidate for version n, or a copy of it on its way to K; <x> is drawn
//
// Create: a finished file gets the name K by a rename that fails when the name exists, so exactly
// one creator wins, and nobody ever sees half an object. How it then survives a loss of power is
// told in directory_settling.hpp.
//
// Swap of version n (the first swap settles K and syncs its content, then makes K@ with version 1
// in it, by renaming a prepared folder):
//   1. the base's etag is that of the highest version n
//   2. write candidate K@/<n+1>.<x>
//   3. check that K@/<n> still exists
//   4. link the candidate to K@/<n+1>: whoever finds the name taken has lost
//   5. sync K@: from here on the swap is answered
//   6. retire older versions: for j = lowest..n, (a) having seen that j-1 is gone, (b) list K@ and
//      delete each candidate for j or below (or for n+1: it can't win either), (c) delete version
//      j. The highest is never deleted.
//
// Why a swapper that slept for a year can't win: let its link of n+1 be the first ever that makes a
// number exist again after its deletion by some G. Its candidate existed at the link (link(2) needs
// its source), so G's list in 6b missed it, so it was written after that list began, so after G had
// seen that n is gone (6a). The check in 3 came later still and found n: so n had been made again
// before, against "first". Version 1 is only made by the rename, which fails once K@ has any entry.
// So numbers are linked once each, in ascending order; those that exist are always a contiguous
// range; the winner of n+1 is one, and its base was the newest.
//
// Read: open the highest number m that a list of K@ shows; if it is gone, others made progress:
// list again. Opened, m was the newest at some moment of the read: let v be the newest when the
// list began. If the list missed v (no list of a folder that changes meanwhile is a snapshot), v
// had been deleted, and all below it before, so m, which is still there, is above v. If not, m is v
// or above. The newest rises one by one.
//
// An object that was never swapped has no K@, and is read with one look for K@ and one open of K.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/rt/store.hpp"
#include "prod/directory/directory_root.hpp"
#include "prod/directory/redo_record.hpp"

namespace morula {

/// The newest version at one moment of the call, open for reading.
struct CurrentObject {
  UniqueFd file;
  uint64_t number = 0;  // 0: no K@ yet
  std::string path;     // below the root
  struct stat info {};
};

/// kNotFound when absent (or not a file); kCorrupt when K@ is empty.
Result<CurrentObject> open_current(const DirectoryRoot& root, const std::string& path);

/// Creates `path` with `body` unless it exists: kPreconditionFailed. Folders are made as needed.
Result<Etag> create_object_file(DirectoryRoot& root, const std::string& path,
                                std::string_view body);

/// Replaces the newest version by `body` if its etag is `base`: kPreconditionFailed when it isn't,
/// kNotFound when there is none.
Result<Etag> swap_object_file(DirectoryRoot& root, const std::string& path, std::string_view body,
                              const Etag& base);

struct Removal {
  std::optional<RedoVoid> plain;  // the file that was deleted
  bool had_versions = false;
};
/// Deletes the object with all versions; fine when absent. It may come back with a loss of power.
Result<Removal> remove_object_file(const DirectoryRoot& root, const std::string& path);

/// Makes what was read survive a loss of power, if it need not yet. `body`: its content, if known.
Result<> make_durable(DirectoryRoot& root, const CurrentObject& object,
                      std::optional<std::string_view> body = {});

}  // namespace morula
