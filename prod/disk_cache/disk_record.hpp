// The bytes of a disk cache's segments. Format: FORMAT.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/lsm/second_tier.hpp"

namespace morula {

inline constexpr uint64_t kDiskUnit = 64;  // bytes: of heads, and what records are aligned to
inline constexpr uint64_t kDiskFooterEntry = 40;
inline constexpr uint64_t kDiskFooterEnd = 32;
inline constexpr uint32_t kDiskFormat = 1;
inline constexpr const char* kDiskMark = "morula disk cache 1\n";

std::string disk_segment_head(uint64_t segment);
bool is_disk_segment_head(std::string_view bytes, uint64_t segment);

/// Of a record in its segment.
struct DiskPlace {
  uint64_t segment = 0;
  uint64_t offset = 0;
};

struct DiskRecordHead {
  TierKey key;
  uint64_t length = 0;    // of the block
  uint64_t checksum = 0;  // of the block

  /// What it takes in a segment.
  uint64_t record_bytes() const;
};

/// Appends the record at `place` to `out`.
void append_disk_record(std::string& out, const TierKey& key, std::string_view block,
                        const DiskPlace& place);
/// The first kDiskUnit of `bytes`; nullopt unless it is the head of a record at this place.
std::optional<DiskRecordHead> parse_disk_record(std::string_view bytes, const DiskPlace& place);

struct DiskFooterItem {
  TierKey key;
  uint64_t offset = 0;  // of the record in the segment
};
std::string disk_footer(uint64_t segment, const std::vector<DiskFooterItem>& items);
/// How many items the footer has whose end these kDiskFooterEnd bytes are.
std::optional<uint64_t> parse_disk_footer_end(std::string_view end, uint64_t segment);
/// `footer` is all of it. nullopt: it is damaged.
std::optional<std::vector<DiskFooterItem>> parse_disk_footer(std::string_view footer,
                                                             uint64_t segment);

/// "<16 hex>.blocks"
std::string disk_segment_name(uint64_t segment);
std::optional<uint64_t> parse_disk_segment_name(std::string_view name);

}  // namespace morula
