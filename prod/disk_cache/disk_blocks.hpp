// Blocks in the segments of a directory, within a bound: the blocking calls. The bytes are told in
// FORMAT.md.
//
// Segments are written one after the other and evicted whole. First go those of which at least half
// was dropped (by merges of tables), the emptiest first: what they still have is written again, so
// nothing is lost while there is room. Without such, first in, first out: of those, blocks that
// have been used since they were written are written again, up to half a segment. So each byte that
// comes in is written at most twice in the long run, however the blocks are used.
//
// Nothing is synced: after a loss of power what is torn is found out when it is read.
//
// The first error of the disk, a full one too, ends it: nothing is read or written any more.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/base/units.hpp"
#include "prod/disk_cache/disk_index.hpp"
#include "prod/disk_cache/disk_record.hpp"
#include "prod/posix_file.hpp"

namespace morula {

/// Thread-safe.
class DiskBlocks {
 public:
  static constexpr uint64_t kBytesMin = 16 * kMiB;

  /// Makes the directory if it is absent and takes it for this process. kInvalid: it is no
  /// directory of such a cache, or not this user's alone to write in, or `bytes` is too small;
  /// kBusy: another process has it; kDenied and others: as the disk says. What an earlier process
  /// left is there once `recover` has found it.
  static Result<std::unique_ptr<DiskBlocks>> open(const std::string& directory, uint64_t bytes);
  ~DiskBlocks();
  DiskBlocks(const DiskBlocks&) = delete;
  DiskBlocks& operator=(const DiskBlocks&) = delete;

  /// Finds what the directory has. May take a while; the other calls may be made meanwhile.
  void recover();

  struct Segment;
  struct Located {
    std::shared_ptr<const Segment> segment;
    DiskIndex::Where where;
  };
  /// Doesn't block on the disk, and nor do `contains`, `forget`, `drop` and `figures`.
  std::optional<Located> locate(const TierKey& key);
  bool contains(const TierKey& key) const;
  /// The block; null when it isn't there whole, or has another length (0: any will do).
  Blob read(const Located& located, const TierKey& key, uint64_t length);

  struct Offered {
    TierKey key;
    Blob owner;
    std::string_view block;
  };
  /// Of one thread at a time. What it has already is left out.
  void write(std::span<const Offered> offered);

  void forget(const TierKey& key);
  void drop(const TierTable& table);

  /// Since when nothing is read or written any more, and why.
  std::optional<Error> failure() const;
  bool failed() const { return failed_; }

  struct Figures {
    uint64_t blocks = 0;
    uint64_t bytes = 0;  // of all segments
    uint64_t memory_bytes = 0;
    uint64_t segments = 0;
    uint64_t written_bytes = 0;    // for the first time
    uint64_t rewritten_bytes = 0;  // of evicted segments
    uint64_t evicted_segments = 0;
    uint64_t damaged = 0;  // records that were none when they were read
  };
  Figures figures() const;
  uint64_t memory_bytes() const { return memory_bytes_; }

 private:
  DiskBlocks(std::string directory, uint64_t bytes);
  Result<> take_directory();
  Result<> take_lock();
  Result<> find_segments();
  void recover_segment(const std::shared_ptr<Segment>& segment);

  /// All false after an error.
  bool make_room(uint64_t record_bytes);
  bool seal();
  bool begin_segment();
  bool flush();
  bool append(const TierKey& key, std::string_view block);
  std::shared_ptr<Segment> victim() const;
  bool is_sparse(const Segment& segment) const;
  void add_to_index(const Segment& segment, const DiskFooterItem& item, uint64_t end);
  void copy(const Segment& from, const std::vector<DiskIndex::Where>& survivors);
  bool fail_with(int error_number, std::string_view doing);
  std::optional<uint16_t> free_slot() const;

  const std::string directory_;
  const uint64_t bytes_max_;
  const uint64_t segment_bytes_;
  UniqueFd root_;
  UniqueFd lock_;
  std::atomic<bool> failed_{false};
  std::atomic<uint64_t> memory_bytes_{0};

  // The writer's own.
  std::shared_ptr<Segment> active_;
  std::string buffer_;                 // what follows in the active segment
  std::vector<DiskFooterItem> items_;  // of the active segment; the last ones are in the buffer
  size_t items_flushed_ = 0;

  mutable std::mutex mutex_;
  DiskIndex index_;
  std::map<uint64_t, std::shared_ptr<Segment>> segments_;  // by number
  std::map<uint16_t, std::shared_ptr<Segment>> by_slot_;
  uint64_t next_segment_ = 1;
  Figures counts_;
  std::optional<Error> failure_;
};

}  // namespace morula
