// Thin ownership over Linux file calls, and what their errno means to the cell.
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.hpp"

namespace morula {

/// Owns a file descriptor.
class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    reset(std::exchange(other.fd_, -1));
    return *this;
  }
  ~UniqueFd() { reset(); }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  void reset(int fd = -1);
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;
};

/// The typed error of a failed call: kFull (no space, quota), kDenied (permission, read-only),
/// kInvalid (name too long, a folder where an object should be), kBusy (descriptors, memory),
/// kNotFound, kUnavailable (everything else). `doing` names the call and path: "create /d/x".
Error file_error(int error_number, std::string_view doing);

/// As `file_error`, after something may have become visible: always kUnavailable, outcome unknown.
Error unknown_file_error(int error_number, std::string_view doing);

/// Writes all of `bytes`; 0 or the errno.
int write_all(int fd, std::string_view bytes);
/// Reads `length` bytes at `offset` into `out`; fewer only at the end of the file. 0 or the errno.
int read_at(int fd, uint64_t offset, uint64_t length, std::string& out);

struct FolderEntry {
  std::string name;
  unsigned char type;  // DT_REG, DT_DIR, ...; DT_UNKNOWN where the file system doesn't tell
};

/// All entries but "." and "..", unordered. An entry that exists during the whole call is there;
/// one that comes or goes meanwhile may be. 0 or the errno.
int read_folder(int root, const std::string& path, std::vector<FolderEntry>& out);

/// Whether a name is there; an error when that can't be told.
Result<bool> exists_at(int root, const std::string& path);

/// 16 hex digits that nobody else draws.
std::string random_name();

inline int64_t nanoseconds(const timespec& time) {
  return static_cast<int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

}  // namespace morula
