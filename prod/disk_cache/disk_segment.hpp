// One segment of a disk cache: its file. Format: FORMAT.md.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "prod/disk_cache/disk_blocks.hpp"
#include "prod/disk_cache/disk_record.hpp"
#include "prod/posix_file.hpp"

namespace morula {

/// Read by any thread, written by one. An error is an errno.
struct DiskBlocks::Segment {
  Segment(UniqueFd f, uint64_t n, uint16_t s, uint64_t b)
      : fd(std::move(f)), number(n), slot(s), bytes(b) {}

  static tl::expected<std::shared_ptr<Segment>, int> create(int root, uint64_t number,
                                                            uint16_t slot);
  /// Appends. 0 or the errno.
  int write(std::string_view more);

  struct Record {
    DiskRecordHead head;
    std::string block;
  };
  /// nullopt when there is no whole one. `length`: what it will have; 0: not known.
  tl::expected<std::optional<Record>, int> read(uint64_t offset, uint64_t length) const;
  /// What the footer says; without a whole one, what can be found.
  std::vector<DiskFooterItem> items() const;
  bool has_head() const;

  const UniqueFd fd;
  const uint64_t number;
  const uint16_t slot;
  std::atomic<uint64_t> bytes;      // written so far
  std::atomic<bool> found = false;  // what it has is in the index
};

}  // namespace morula
