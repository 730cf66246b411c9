#include "prod/disk_cache/disk_segment.hpp"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>

#include "core/base/codec.hpp"

namespace morula {

tl::expected<std::shared_ptr<DiskBlocks::Segment>, int> DiskBlocks::Segment::create(int root,
                                                                                    uint64_t number,
                                                                                    uint16_t slot) {
  const std::string name = disk_segment_name(number);
  UniqueFd fd(
      ::openat(root, name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd) return tl::unexpected(errno);
  auto segment = std::make_shared<Segment>(std::move(fd), number, slot, 0);
  if (const int error = segment->write(disk_segment_head(number))) return tl::unexpected(error);
  segment->found = true;
  return segment;
}

int DiskBlocks::Segment::write(std::string_view more) {
  uint64_t at = bytes;
  while (!more.empty()) {
    const ssize_t written = ::pwrite(fd.get(), more.data(), more.size(), static_cast<off_t>(at));
    if (written < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    if (written == 0) return ENOSPC;
    at += static_cast<uint64_t>(written);
    more.remove_prefix(static_cast<size_t>(written));
  }
  bytes = at;
  return 0;
}

tl::expected<std::optional<DiskBlocks::Segment::Record>, int> DiskBlocks::Segment::read(
    uint64_t offset, uint64_t length) const {
  // A damaged head must not make it ask for gigabytes.
  constexpr uint64_t kLengthMax = 256 * kMiB;
  std::string head;
  Record record;
  if (const int error = read_at(fd.get(), offset, kDiskUnit + length, record.block)) {
    return tl::unexpected(error);
  }
  const auto parsed = parse_disk_record(record.block, {number, offset});
  if (!parsed || parsed->length > kLengthMax) return std::nullopt;
  record.head = *parsed;
  if (record.block.size() < kDiskUnit + parsed->length) {
    std::string rest;
    const uint64_t more = kDiskUnit + parsed->length - record.block.size();
    if (const int error = read_at(fd.get(), offset + record.block.size(), more, rest)) {
      return tl::unexpected(error);
    }
    record.block.append(rest);
  }
  record.block.erase(0, kDiskUnit);
  if (record.block.size() > parsed->length) record.block.resize(parsed->length);
  if (record.block.size() != parsed->length || checksum(record.block) != parsed->checksum) {
    return std::nullopt;
  }
  return record;
}

bool DiskBlocks::Segment::has_head() const {
  std::string head;
  return read_at(fd.get(), 0, kDiskUnit, head) == 0 && is_disk_segment_head(head, number);
}

std::vector<DiskFooterItem> DiskBlocks::Segment::items() const {
  const uint64_t size = bytes;
  std::string end;
  if (size >= kDiskUnit + kDiskFooterEnd &&
      read_at(fd.get(), size - kDiskFooterEnd, kDiskFooterEnd, end) == 0) {
    const auto count = parse_disk_footer_end(end, number);
    if (count && *count <= (size - kDiskFooterEnd) / kDiskFooterEntry) {
      const uint64_t length = *count * kDiskFooterEntry + kDiskFooterEnd;
      std::string footer;
      if (read_at(fd.get(), size - length, length, footer) == 0) {
        if (auto items = parse_disk_footer(footer, number)) return *std::move(items);
      }
    }
  }
  std::vector<DiskFooterItem> items;
  std::string head;
  for (uint64_t offset = kDiskUnit; offset + kDiskUnit <= size;) {
    if (read_at(fd.get(), offset, kDiskUnit, head) != 0) break;
    const auto record = parse_disk_record(head, {number, offset});
    if (!record || record->record_bytes() > size - offset) break;
    items.push_back({record->key, offset});
    offset += record->record_bytes();
  }
  return items;
}

}  // namespace morula
