// How a disk cache takes its directory, and finds what an earlier process left there.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "prod/disk_cache/disk_blocks.hpp"
#include "prod/disk_cache/disk_segment.hpp"

namespace morula {
namespace {

constexpr const char* kLockFile = "lock";
constexpr std::string_view kMarkBegin = "morula disk cache ";

}  // namespace

Result<std::unique_ptr<DiskBlocks>> DiskBlocks::open(const std::string& directory, uint64_t bytes) {
  if (bytes < kBytesMin) {
    return fail(ErrorCode::kInvalid,
                "a disk cache needs at least " + std::to_string(kBytesMin / kMiB) + "MiB");
  }
  auto blocks = std::unique_ptr<DiskBlocks>(new DiskBlocks(directory, bytes));
  MORULA_TRY(blocks->take_directory());
  MORULA_TRY(blocks->take_lock());
  MORULA_TRY(blocks->find_segments());
  return blocks;
}

Result<> DiskBlocks::take_directory() {
  if (::mkdir(directory_.c_str(), 0700) != 0 && errno != EEXIST) {
    return tl::unexpected(file_error(errno, "make directory " + directory_));
  }
  root_.reset(::open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!root_) return tl::unexpected(file_error(errno, "open directory " + directory_));
  struct stat info {};
  if (::fstat(root_.get(), &info) != 0) {
    return tl::unexpected(file_error(errno, "look at " + directory_));
  }
  if (info.st_uid != ::geteuid() || (info.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return fail(ErrorCode::kInvalid, directory_ +
                                         ": the disk cache needs a directory that belongs "
                                         "to its user and nobody else may write to "
                                         "(chmod 700)");
  }
  return {};
}

Result<> DiskBlocks::take_lock() {
  std::vector<FolderEntry> entries;
  if (const int error = read_folder(root_.get(), ".", entries)) {
    return tl::unexpected(file_error(error, "list " + directory_));
  }
  for (const FolderEntry& entry : entries) {
    if (entry.name == kLockFile || entry.name == "lost+found") continue;
    if (parse_disk_segment_name(entry.name)) continue;
    return fail(ErrorCode::kInvalid, directory_ + " has \"" + entry.name +
                                         "\", which is no disk cache's: give the cache a directory "
                                         "of its own");
  }
  lock_.reset(::openat(root_.get(), kLockFile, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock_) return tl::unexpected(file_error(errno, "create a file in " + directory_));
  if (::flock(lock_.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return tl::unexpected(file_error(errno, "lock " + directory_));
    return fail(ErrorCode::kBusy, directory_ + ": another process has its disk cache there");
  }
  std::string mark;
  if (const int error = read_at(lock_.get(), 0, 64, mark)) {
    return tl::unexpected(file_error(error, "read " + directory_ + "/lock"));
  }
  if (mark == kDiskMark) return {};
  if (!mark.empty() && !mark.starts_with(kMarkBegin)) {
    return fail(ErrorCode::kInvalid, directory_ +
                                         "/lock is no disk cache's: give the cache a "
                                         "directory of its own");
  }
  // Of another format: nothing in it is worth more than its room.
  for (const FolderEntry& entry : entries) {
    if (parse_disk_segment_name(entry.name)) ::unlinkat(root_.get(), entry.name.c_str(), 0);
  }
  const std::string_view wanted = kDiskMark;
  if (::ftruncate(lock_.get(), 0) != 0 || ::pwrite(lock_.get(), wanted.data(), wanted.size(), 0) !=
                                              static_cast<ssize_t>(wanted.size())) {
    return tl::unexpected(file_error(errno == 0 ? ENOSPC : errno, "write in " + directory_));
  }
  return {};
}

Result<> DiskBlocks::find_segments() {
  std::vector<FolderEntry> entries;
  if (const int error = read_folder(root_.get(), ".", entries)) {
    return tl::unexpected(file_error(error, "list " + directory_));
  }
  std::vector<uint64_t> numbers;
  for (const FolderEntry& entry : entries) {
    if (const auto number = parse_disk_segment_name(entry.name)) numbers.push_back(*number);
  }
  std::ranges::sort(numbers, std::greater());
  for (const uint64_t number : numbers) {
    next_segment_ = std::max(next_segment_, number + 1);
    const std::string name = disk_segment_name(number);
    UniqueFd fd(::openat(root_.get(), name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    struct stat info {};
    const bool usable = fd && ::fstat(fd.get(), &info) == 0 && S_ISREG(info.st_mode);
    const auto size = static_cast<uint64_t>(usable ? info.st_size : 0);
    // It may have been given less room than before.
    if (size <= kDiskUnit || counts_.bytes + size > bytes_max_ || by_slot_.size() >= 200) {
      ::unlinkat(root_.get(), name.c_str(), 0);
      continue;
    }
    const auto slot = *free_slot();
    auto segment = std::make_shared<Segment>(std::move(fd), number, slot, size);
    segments_.emplace(number, segment);
    by_slot_.emplace(slot, std::move(segment));
    counts_.bytes += size;
  }
  return {};
}

void DiskBlocks::recover() {
  std::vector<std::shared_ptr<Segment>> found;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [number, segment] : segments_) {
      if (!segment->found) found.push_back(segment);
    }
  }
  // The newest first: what is there twice counts as it was written last.
  std::ranges::reverse(found);
  for (const auto& segment : found) recover_segment(segment);
}

void DiskBlocks::recover_segment(const std::shared_ptr<Segment>& segment) {
  if (failed_) return;
  std::vector<DiskFooterItem> items;
  if (segment->has_head()) items = segment->items();
  const std::lock_guard lock(mutex_);
  segment->found = true;
  if (!segments_.contains(segment->number)) return;  // evicted meanwhile
  for (size_t i = 0; i < items.size(); ++i) {
    const DiskFooterItem& item = items[i];
    const uint64_t end = i + 1 < items.size() ? items[i + 1].offset : uint64_t{segment->bytes};
    const bool possible =
        item.offset % kDiskUnit == 0 && item.offset < end && end <= segment->bytes;
    if (possible && !index_.contains(item.key)) add_to_index(*segment, item, end);
  }
  memory_bytes_ = index_.memory_bytes();
}

}  // namespace morula
