#include "prod/disk_cache/disk_record.hpp"

#include <fmt/format.h>

#include <charconv>

#include "core/base/codec.hpp"

namespace morula {
namespace {

constexpr std::string_view kSegmentMagic = "MORULADC";
constexpr std::string_view kFooterMagic = "MORULAFT";
constexpr uint32_t kRecordMagic = 0x5243444d;  // "MDCR"
constexpr std::string_view kSegmentSuffix = ".blocks";
constexpr size_t kNameDigits = 16;

void put_key(Encoder& out, const TierKey& key) {
  out.u64(key.table.incarnation.high);
  out.u64(key.table.incarnation.low);
  out.u64(key.table.number);
  out.u64(key.offset);
}

TierKey take_key(Decoder& in) {
  TierKey key;
  key.table.incarnation.high = in.u64();
  key.table.incarnation.low = in.u64();
  key.table.number = in.u64();
  key.offset = in.u64();
  return key;
}

/// Of a record's head, and of where it lies.
uint64_t head_checksum(std::string_view head, uint64_t offset) {
  std::string bytes(head.substr(0, kDiskUnit - 8));
  Encoder(bytes).u64(offset);
  return checksum(bytes);
}

}  // namespace

std::string disk_segment_head(uint64_t segment) {
  std::string head;
  Encoder out(head);
  out.raw(kSegmentMagic);
  out.u32(kDiskFormat);
  out.u32(0);
  out.u64(segment);
  head.resize(kDiskUnit - 8);
  out.u64(checksum(head));
  return head;
}

bool is_disk_segment_head(std::string_view bytes, uint64_t segment) {
  return bytes == disk_segment_head(segment);
}

uint64_t DiskRecordHead::record_bytes() const {
  return kDiskUnit + (length + kDiskUnit - 1) / kDiskUnit * kDiskUnit;
}

void append_disk_record(std::string& out, const TierKey& key, std::string_view block,
                        const DiskPlace& place) {
  std::string head;
  Encoder fields(head);
  fields.u32(kRecordMagic);
  fields.u32(static_cast<uint32_t>(block.size()));
  put_key(fields, key);
  fields.u64(checksum(block));
  fields.u64(place.segment);
  fields.u64(head_checksum(head, place.offset));
  const uint64_t end = out.size() + DiskRecordHead{key, block.size(), 0}.record_bytes();
  out.append(head);
  out.append(block);
  out.resize(end);
}

std::optional<DiskRecordHead> parse_disk_record(std::string_view bytes, const DiskPlace& place) {
  if (bytes.size() < kDiskUnit) return std::nullopt;
  Decoder in(bytes.substr(0, kDiskUnit));
  const uint32_t magic = in.u32();
  DiskRecordHead head;
  head.length = in.u32();
  head.key = take_key(in);
  head.checksum = in.u64();
  const uint64_t segment = in.u64();
  const uint64_t expected = in.u64();
  if (magic != kRecordMagic || segment != place.segment ||
      expected != head_checksum(bytes, place.offset)) {
    return std::nullopt;
  }
  return head;
}

std::string disk_footer(uint64_t segment, const std::vector<DiskFooterItem>& items) {
  std::string footer;
  footer.reserve(items.size() * kDiskFooterEntry + kDiskFooterEnd);
  Encoder out(footer);
  for (const DiskFooterItem& item : items) {
    put_key(out, item.key);
    out.u64(item.offset);
  }
  out.raw(kFooterMagic);
  out.u64(items.size());
  out.u64(segment);
  out.u64(checksum(footer));
  return footer;
}

std::optional<uint64_t> parse_disk_footer_end(std::string_view end, uint64_t segment) {
  Decoder in(end);
  if (in.raw(kFooterMagic.size()) != kFooterMagic) return std::nullopt;
  const uint64_t count = in.u64();
  if (in.u64() != segment || in.failed()) return std::nullopt;
  return count;
}

std::optional<std::vector<DiskFooterItem>> parse_disk_footer(std::string_view footer,
                                                             uint64_t segment) {
  if (footer.size() < kDiskFooterEnd) return std::nullopt;
  const auto count = parse_disk_footer_end(footer.substr(footer.size() - kDiskFooterEnd), segment);
  if (!count || *count != (footer.size() - kDiskFooterEnd) / kDiskFooterEntry) return std::nullopt;
  Decoder end(footer.substr(footer.size() - 8));
  if (end.u64() != checksum(footer.substr(0, footer.size() - 8))) return std::nullopt;
  Decoder in(footer);
  std::vector<DiskFooterItem> items(*count);
  for (DiskFooterItem& item : items) {
    item.key = take_key(in);
    item.offset = in.u64();
  }
  return items;
}

std::string disk_segment_name(uint64_t segment) {
  return fmt::format("{:016x}{}", segment, kSegmentSuffix);
}

std::optional<uint64_t> parse_disk_segment_name(std::string_view name) {
  if (name.size() != kNameDigits + kSegmentSuffix.size() || !name.ends_with(kSegmentSuffix)) {
    return std::nullopt;
  }
  uint64_t segment = 0;
  const char* const end = name.data() + kNameDigits;
  const auto parsed = std::from_chars(name.data(), end, segment, 16);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  if (name != disk_segment_name(segment)) return std::nullopt;
  return segment;
}

}  // namespace morula
