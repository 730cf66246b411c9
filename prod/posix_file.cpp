#include "prod/posix_file.hpp"

#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "core/base/check.hpp"

namespace morula {
namespace {

ErrorCode code_of(int error_number) {
  switch (error_number) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return ErrorCode::kFull;
    case EACCES:
    case EPERM:
    case EROFS:
      return ErrorCode::kDenied;
    case ENAMETOOLONG:
    case ENOTDIR:
    case EISDIR:
    case ELOOP:
      return ErrorCode::kInvalid;
    case EMFILE:
    case ENFILE:
    case ENOMEM:
      return ErrorCode::kBusy;
    case ENOENT:
      return ErrorCode::kNotFound;
    default:
      return ErrorCode::kUnavailable;
  }
}

std::string_view what_to_do(int error_number) {
  switch (error_number) {
    case ENOSPC:
      return "; free some space or grow the file system";
    case EDQUOT:
      return "; free some space or raise the quota";
    case EFBIG:
      return "; raise the limit of file sizes (ulimit -f)";
    case EACCES:
    case EPERM:
      return "; give the user that runs morula read, write and search permission there";
    case EROFS:
      return "; mount the file system writable";
    case EMFILE:
    case ENFILE:
      return "; raise the limit of open files (ulimit -n)";
    case EIO:
      return "; the disk reports a fault, see the kernel's log";
    default:
      return "";
  }
}

std::string describe(int error_number, std::string_view doing) {
  return fmt::format("cannot {}: {}{}", doing, strerrordesc_np(error_number),
                     what_to_do(error_number));
}

}  // namespace

void UniqueFd::reset(int fd) {
  if (fd_ >= 0) ::close(fd_);
  fd_ = fd;
}

Error file_error(int error_number, std::string_view doing) {
  return Error{code_of(error_number), describe(error_number, doing)};
}

Error unknown_file_error(int error_number, std::string_view doing) {
  return Error{ErrorCode::kUnavailable, describe(error_number, doing)};
}

int write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return 0;
}

int read_at(int fd, uint64_t offset, uint64_t length, std::string& out) {
  out.resize(length);
  uint64_t done = 0;
  while (done < length) {
    const ssize_t n =
        ::pread(fd, out.data() + done, length - done, static_cast<off_t>(offset + done));
    if (n < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    if (n == 0) break;
    done += static_cast<uint64_t>(n);
  }
  out.resize(done);
  return 0;
}

int read_folder(int root, const std::string& path, std::vector<FolderEntry>& out) {
  out.clear();
  UniqueFd fd(::openat(root, path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return errno;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::fdopendir(fd.get()), ::closedir);
  if (!folder) return errno;
  fd.release();  // closedir closes it
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(folder.get());
    if (entry == nullptr) return errno;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") out.push_back({std::string(name), entry->d_type});
  }
}

Result<bool> exists_at(int root, const std::string& path) {
  if (::faccessat(root, path.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0) return true;
  if (errno == ENOENT || errno == ENOTDIR) return false;
  return fail(file_error(errno, "look at " + path));
}

std::string random_name() {
  uint64_t drawn = 0;
  MORULA_CHECK(::getrandom(&drawn, sizeof(drawn), 0) == sizeof(drawn));
  return fmt::format("{:016x}", drawn);
}

}  // namespace morula
