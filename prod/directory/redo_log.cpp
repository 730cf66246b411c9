#include "prod/directory/redo_log.hpp"

#include <fmt/format.h>
#include <sys/file.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <new>

#include "core/base/check.hpp"
#include "core/base/units.hpp"
#include "prod/directory/directory_names.hpp"

namespace morula {
namespace {

constexpr size_t kBootDigits = 32;
constexpr size_t kLogDigits = 16;
constexpr uint64_t kLayOutBytes = kMiB;  // at once
constexpr uint64_t kShareOfFreeSpace = 4;

bool hex(std::string_view text) {
  return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

int64_t monotonic_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return nanoseconds(now);
}

/// Memory that a direct write takes. One per thread: it is filled and written without a pause.
class AlignedBuffer {
 public:
  char* of_size(size_t bytes) {
    if (bytes > size_) {
      std::free(memory_);
      size_ = 0;
      memory_ = static_cast<char*>(std::aligned_alloc(kRedoBlock, bytes));
      if (memory_ == nullptr) throw std::bad_alloc();
      size_ = bytes;
    }
    return memory_;
  }
  ~AlignedBuffer() { std::free(memory_); }

 private:
  char* memory_ = nullptr;
  size_t size_ = 0;
};

int write_synced(int file, const char* bytes, size_t size, uint64_t offset) {
  while (size > 0) {
    const iovec part{const_cast<char*>(bytes), size};
    const ssize_t n = ::pwritev2(file, &part, 1, static_cast<off_t>(offset), RWF_DSYNC);
    if (n < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    // A direct write goes on at a block only.
    if (static_cast<size_t>(n) < size && static_cast<size_t>(n) % kRedoBlock != 0) return EIO;
    bytes += n;
    size -= static_cast<size_t>(n);
    offset += static_cast<uint64_t>(n);
  }
  return 0;
}

int fill_with_zeros(int file, uint64_t bytes) {
  AlignedBuffer buffer;
  char* zeros = buffer.of_size(kLayOutBytes);
  std::memset(zeros, 0, kLayOutBytes);
  for (uint64_t done = 0; done < bytes;) {
    const ssize_t n =
        ::pwrite(file, zeros, std::min(kLayOutBytes, bytes - done), static_cast<off_t>(done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n < 0 ? errno : EIO;
    done += static_cast<uint64_t>(n);
  }
  return 0;
}

}  // namespace

RedoHold::~RedoHold() {
  if (log_ != nullptr) log_->let_go(segment_);
}

Result<std::unique_ptr<RedoLog>> RedoLog::create(const DirectoryRoot& root, const std::string& boot,
                                                 uint64_t segment_bytes,
                                                 std::function<void()> on_change) {
  MORULA_CHECK(segment_bytes % kRedoBlock == 0);
  std::unique_ptr<RedoLog> log(new RedoLog(root, segment_bytes, std::move(on_change)));
  struct statvfs space {};
  if (::fstatvfs(root.fd.get(), &space) != 0 ||
      uint64_t{space.f_bavail} * space.f_frsize < 2 * segment_bytes * kShareOfFreeSpace) {
    return fail(ErrorCode::kFull, "there is too little space for a redo log");
  }
  MORULA_TRY(log->lay_out(boot));
  return log;
}

Result<> RedoLog::lay_out(const std::string& boot) {
  const int fd = root_.fd.get();
  MORULA_TRY(make_folders(root_, kRedoFolder));
  const std::string digits = random_name();
  std::from_chars(digits.data(), digits.data() + digits.size(), id_, 16);
  path_ = fmt::format("{}/{}-{}", kRedoFolder, boot, digits);
  const std::string unfinished = path_ + ".new";
  const auto give_up = [&](int error) -> Result<> {
    ::unlinkat(fd, unfinished.c_str(), 0);
    ::unlinkat(fd, path_.c_str(), 0);
    return fail(file_error(error, "lay out the redo log " + root_.full(path_)));
  };
  const int flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC;
  file_.reset(::openat(fd, unfinished.c_str(), flags | O_DIRECT, 0600));
  if (!file_ && errno == EINVAL) {  // no direct writes here; the file may have been made
    ::unlinkat(fd, unfinished.c_str(), 0);
    file_.reset(::openat(fd, unfinished.c_str(), flags, 0600));
  }
  if (!file_) return fail(file_error(errno, "create the redo log " + root_.full(unfinished)));
  if (::flock(file_.get(), LOCK_EX | LOCK_NB) != 0) return give_up(errno);
  if (const int error = fill_with_zeros(file_.get(), 2 * segment_bytes_)) return give_up(error);
  if (const int error = root_.sync_file(file_.get())) return give_up(error);
  for (int segment = 0; segment < 2; ++segment) {
    if (const int error = write_segment_head(segment, ++last_generation_)) return give_up(error);
  }
  if (::renameat(fd, unfinished.c_str(), fd, path_.c_str()) != 0) return give_up(errno);
  for (const char* folder : {kRedoFolder, "."}) {
    if (const int error = root_.sync_folder(folder)) return give_up(error);
  }
  return {};
}

int RedoLog::write_segment_head(int segment, uint64_t generation) {
  const RedoContent content = redo_content(RedoSegment{segment_bytes_});
  const uint64_t offset = static_cast<uint64_t>(segment) * segment_bytes_;
  if (const int error = write_at(offset, {id_, generation}, content)) return error;
  segments_[segment].generation = generation;
  segments_[segment].used = kRedoBlock;
  return 0;
}

int RedoLog::write_at(uint64_t offset, const RedoFrame& frame, const RedoContent& content) {
  thread_local AlignedBuffer buffer;
  const size_t bytes = redo_bytes(content);
  char* memory = buffer.of_size(bytes);
  write_redo(memory, frame, content);
  return write_synced(file_.get(), memory, bytes, offset);
}

Result<RedoHold> RedoLog::append(const RedoContent& content) {
  const size_t bytes = redo_bytes(content);
  uint64_t offset = 0;
  RedoFrame frame{id_, 0};
  std::unique_lock lock(mutex_);
  if (failure_) return fail(*failure_);
  if (segments_[active_].used + bytes > segment_bytes_ && !switch_segments()) {
    return fail(ErrorCode::kBusy, "the redo log is full until its checkpoint is done");
  }
  Segment& segment = segments_[active_];
  if (segment.used + bytes > segment_bytes_) {
    return fail(ErrorCode::kBusy, "the record is larger than the redo log");
  }
  offset = static_cast<uint64_t>(active_) * segment_bytes_ + segment.used;
  frame.generation = segment.generation;
  segment.used += bytes;
  ++segment.holders;
  last_append_ = monotonic_ns();
  RedoHold hold(*this, active_);
  lock.unlock();
  if (const int error = write_at(offset, frame, content)) {
    Error failure = file_error(error, "write to the redo log " + root_.full(path_));
    lock.lock();
    failure_ = failure;
    on_change_();
    lock.unlock();
    return fail(std::move(failure));
  }
  return hold;
}

bool RedoLog::switch_segments() {
  const int other = 1 - active_;
  if (!segments_[other].free) return false;
  segments_[active_].free = false;
  active_ = other;
  on_change_();
  return true;
}

std::optional<int> RedoLog::segment_to_free(bool also_unfinished) {
  const std::lock_guard lock(mutex_);
  if (!segments_[1 - active_].free) return 1 - active_;
  if (!also_unfinished || segments_[active_].used == kRedoBlock || !switch_segments()) return {};
  return 1 - active_;
}

void RedoLog::wait_until_let_go(int segment) {
  std::unique_lock lock(mutex_);
  let_go_.wait(lock, [&] { return segments_[segment].holders == 0; });
}

Result<> RedoLog::free_segment(int segment) {
  const uint64_t generation = ++last_generation_;
  if (const int error = write_segment_head(segment, generation)) {
    return fail(file_error(error, "write to the redo log " + root_.full(path_)));
  }
  const std::lock_guard lock(mutex_);
  segments_[segment].free = true;
  return {};
}

void RedoLog::let_go(int segment) {
  const std::lock_guard lock(mutex_);
  if (--segments_[segment].holders == 0) let_go_.notify_all();
}

std::optional<Error> RedoLog::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

bool RedoLog::any_record() const {
  const std::lock_guard lock(mutex_);
  return segments_[0].used > kRedoBlock || segments_[1].used > kRedoBlock;
}

int64_t RedoLog::last_append() const {
  const std::lock_guard lock(mutex_);
  return last_append_;
}

std::optional<RedoFileName> parse_redo_file_name(std::string_view name) {
  if (name.size() < kBootDigits + 1 + kLogDigits || name[kBootDigits] != '-') return std::nullopt;
  const std::string_view boot = name.substr(0, kBootDigits);
  const std::string_view digits = name.substr(kBootDigits + 1, kLogDigits);
  const std::string_view suffix = name.substr(kBootDigits + 1 + kLogDigits);
  if (!hex(boot) || !hex(digits)) return std::nullopt;
  if (!suffix.empty() && suffix != ".new" && suffix != ".kept") return std::nullopt;
  RedoFileName parsed{std::string(boot), 0, std::string(suffix)};
  std::from_chars(digits.data(), digits.data() + digits.size(), parsed.log, 16);
  return parsed;
}

std::string boot_of_machine() {
  const UniqueFd file(::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
  std::string text;
  if (!file || read_at(file.get(), 0, 64, text) != 0) return {};
  std::string boot;
  for (const char c : text) {
    if (c != '-' && c != '\n') boot.push_back(c);
  }
  return boot.size() == kBootDigits && hex(boot) ? boot : std::string();
}

}  // namespace morula
