#include "prod/disk_cache/disk_blocks.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "core/base/codec.hpp"
#include "prod/disk_cache/disk_segment.hpp"

namespace morula {
namespace {

constexpr uint64_t kSegmentShare = 32;  // a segment has 1 / this of the capacity
constexpr uint64_t kSegmentBytesMin = 512 * kKiB;
constexpr uint64_t kSegmentBytesMax = 256 * kMiB;
constexpr size_t kSegmentsMax = 256;  // each has a descriptor; killed processes leave short ones
constexpr uint64_t kWriteBytes = kMiB;

uint64_t with_footer(uint64_t bytes, uint64_t records) {
  return bytes + records * kDiskFooterEntry + kDiskFooterEnd;
}

}  // namespace

DiskBlocks::DiskBlocks(std::string directory, uint64_t bytes)
    : directory_(std::move(directory)),
      bytes_max_(bytes),
      segment_bytes_(std::clamp(bytes / kSegmentShare, kSegmentBytesMin, kSegmentBytesMax)) {}

DiskBlocks::~DiskBlocks() {
  if (!failed_ && active_) seal();
}

bool DiskBlocks::fail_with(int error_number, std::string_view doing) {
  Error error = file_error(error_number, doing);
  const std::lock_guard lock(mutex_);
  if (!failure_) failure_ = std::move(error);
  failed_ = true;
  return false;
}

std::optional<Error> DiskBlocks::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

std::optional<DiskBlocks::Located> DiskBlocks::locate(const TierKey& key) {
  const std::lock_guard lock(mutex_);
  const auto where = index_.find(key);
  if (!where) return std::nullopt;
  return Located{by_slot_.at(where->slot), *where};
}

bool DiskBlocks::contains(const TierKey& key) const {
  const std::lock_guard lock(mutex_);
  return index_.contains(key);
}

Blob DiskBlocks::read(const Located& located, const TierKey& key, uint64_t length) {
  if (failed_) return nullptr;
  auto record = located.segment->read(located.where.offset * kDiskUnit, length);
  if (!record) {
    fail_with(record.error(), "read " + directory_);
    return nullptr;
  }
  if (*record && (*record)->head.key == key && (length == 0 || (*record)->head.length == length)) {
    return make_blob(std::move((*record)->block));
  }
  const std::lock_guard lock(mutex_);
  index_.erase(key, located.where);
  ++counts_.damaged;
  return nullptr;
}

void DiskBlocks::forget(const TierKey& key) {
  const std::lock_guard lock(mutex_);
  if (const auto where = index_.find(key)) index_.erase(key, *where);
}

void DiskBlocks::drop(const TierTable& table) {
  const std::lock_guard lock(mutex_);
  index_.erase_table(table);
}

void DiskBlocks::write(std::span<const Offered> offered) {
  for (const Offered& one : offered) {
    if (failed_) return;
    if (one.block.size() > segment_bytes_ / 2 || contains(one.key)) continue;
    if (!append(one.key, one.block)) return;
  }
  flush();
}

bool DiskBlocks::append(const TierKey& key, std::string_view block) {
  if (!make_room(DiskRecordHead{key, block.size(), 0}.record_bytes())) return false;
  const uint64_t offset = active_->bytes + buffer_.size();
  append_disk_record(buffer_, key, block, {active_->number, offset});
  items_.push_back({key, offset});
  return buffer_.size() < kWriteBytes || flush();
}

void DiskBlocks::add_to_index(const Segment& segment, const DiskFooterItem& item, uint64_t end) {
  const auto unit = static_cast<uint32_t>(item.offset / kDiskUnit);
  index_.insert(item.key, {segment.slot, unit}, end - item.offset);
}

bool DiskBlocks::flush() {
  if (buffer_.empty()) return true;
  if (const int error = active_->write(buffer_)) return fail_with(error, "write " + directory_);
  const std::lock_guard lock(mutex_);
  for (; items_flushed_ < items_.size(); ++items_flushed_) {
    const bool is_last = items_flushed_ + 1 == items_.size();
    const uint64_t end = is_last ? uint64_t{active_->bytes} : items_[items_flushed_ + 1].offset;
    add_to_index(*active_, items_[items_flushed_], end);
  }
  counts_.written_bytes += buffer_.size();
  counts_.bytes += buffer_.size();
  memory_bytes_ = index_.memory_bytes();
  buffer_.clear();
  return true;
}

bool DiskBlocks::make_room(uint64_t record_bytes) {
  if (active_) {
    const uint64_t bytes = active_->bytes + buffer_.size() + record_bytes;
    if (with_footer(bytes, items_.size() + 1) <= segment_bytes_) return true;
    if (!seal()) return false;
  }
  return begin_segment();
}

bool DiskBlocks::seal() {
  if (!flush()) return false;
  const std::string footer = disk_footer(active_->number, items_);
  if (const int error = active_->write(footer)) return fail_with(error, "write " + directory_);
  items_.clear();
  items_flushed_ = 0;
  const std::lock_guard lock(mutex_);
  counts_.bytes += footer.size();
  active_.reset();
  return true;
}

/// At least half of what it has was dropped or replaced: all the rest fits in half a segment.
bool DiskBlocks::is_sparse(const Segment& segment) const {
  return segment.found && index_.live_bytes(segment.slot) <= segment.bytes / 2;
}

std::shared_ptr<DiskBlocks::Segment> DiskBlocks::victim() const {
  std::shared_ptr<Segment> sparsest;
  for (const auto& [number, segment] : segments_) {
    const bool is_sparser = !sparsest || index_.live_bytes(segment->slot) * sparsest->bytes <
                                             index_.live_bytes(sparsest->slot) * segment->bytes;
    if (is_sparse(*segment) && is_sparser) sparsest = segment;
  }
  if (sparsest || segments_.empty()) return sparsest;
  return segments_.begin()->second;
}

std::optional<uint16_t> DiskBlocks::free_slot() const {
  for (uint16_t slot = 0; slot < DiskIndex::kSlotsMax; ++slot) {
    if (!by_slot_.contains(slot)) return slot;
  }
  return std::nullopt;
}

bool DiskBlocks::begin_segment() {
  std::vector<std::pair<std::shared_ptr<Segment>, std::vector<DiskIndex::Where>>> evicted;
  uint64_t number = 0;
  uint16_t slot = 0;
  {
    const std::lock_guard lock(mutex_);
    while (counts_.bytes + segment_bytes_ > bytes_max_ || segments_.size() >= kSegmentsMax) {
      const std::shared_ptr<Segment> out = victim();
      if (!out) break;
      const auto survivors =
          is_sparse(*out) ? DiskIndex::Survivors::kAll : DiskIndex::Survivors::kUsed;
      evicted.emplace_back(out, index_.erase_segment(out->slot, survivors));
      segments_.erase(out->number);
      by_slot_.erase(out->slot);
      counts_.bytes -= out->bytes;
      ++counts_.evicted_segments;
    }
    number = next_segment_++;
    slot = *free_slot();
  }
  for (const auto& [segment, survivors] : evicted) {
    ::unlinkat(root_.get(), disk_segment_name(segment->number).c_str(), 0);
  }
  auto segment = Segment::create(root_.get(), number, slot);
  if (!segment) return fail_with(segment.error(), "create a file in " + directory_);
  active_ = *std::move(segment);
  {
    const std::lock_guard lock(mutex_);
    segments_.emplace(number, active_);
    by_slot_.emplace(slot, active_);
    counts_.bytes += active_->bytes;
  }
  for (const auto& [from, survivors] : evicted) copy(*from, survivors);
  return !failed_;
}

/// Half of the segment at most, of all that are evicted for it.
void DiskBlocks::copy(const Segment& from, const std::vector<DiskIndex::Where>& survivors) {
  uint64_t copied = 0;
  for (const DiskIndex::Where& where : survivors) {
    if (active_->bytes + buffer_.size() > segment_bytes_ / 2 || failed_) break;
    auto record = from.read(where.offset * kDiskUnit, 0);
    if (!record || !*record || contains((*record)->head.key)) continue;
    const uint64_t bytes = (*record)->head.record_bytes();
    const uint64_t end = active_->bytes + buffer_.size() + bytes;
    if (with_footer(end, items_.size() + 1) > segment_bytes_) break;
    if (!append((*record)->head.key, (*record)->block)) return;
    copied += bytes;
  }
  if (!flush()) return;
  const std::lock_guard lock(mutex_);
  counts_.rewritten_bytes += copied;
  counts_.written_bytes -= copied;
}

DiskBlocks::Figures DiskBlocks::figures() const {
  const std::lock_guard lock(mutex_);
  Figures figures = counts_;
  figures.blocks = index_.blocks();
  figures.memory_bytes = index_.memory_bytes();
  figures.segments = segments_.size();
  return figures;
}

}  // namespace morula
