// The block cache's second tier in a directory of a local disk: DiskBlocks on threads, so that the
// loop never waits for the disk, and what is slow or broken costs hits and nothing else.
//
// A read that the disk doesn't answer soon is given up, and so are reads beyond a number; offers
// beyond what may wait are dropped. An error of the disk (a full one too) turns the cache off, with
// one line in the log, until the next start.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/base/units.hpp"
#include "core/lsm/second_tier.hpp"
#include "core/rt/trace.hpp"
#include "prod/disk_cache/disk_blocks.hpp"
#include "prod/loop.hpp"
#include "prod/worker_pool.hpp"

namespace morula {

/// "DIR:SIZE": "/var/cache/morula:4GiB". "4G" is 4GiB.
struct DiskCachePlace {
  std::string directory;
  uint64_t bytes = 0;

  /// kInvalid, saying how it is written.
  static Result<DiskCachePlace> parse(std::string_view text);
};

/// All of the loop's thread.
class DiskCache final : public SecondTier {
 public:
  static constexpr size_t kReadsMax = 1024;                              // under way
  static constexpr uint64_t kQueuedBytesMax = 64 * kMiB;                 // offered, not yet written
  static constexpr Duration kPatience = std::chrono::milliseconds(200);  // with a read

  /// Errors: those of DiskBlocks::open. `loop` and `trace` outlive it.
  static Result<std::unique_ptr<DiskCache>> open(Loop& loop, Trace& trace,
                                                 const DiskCachePlace& place);
  DiskCache(Loop& loop, Trace& trace, std::unique_ptr<DiskBlocks> blocks);
  /// Waits for what the disk has begun; what is queued is not written.
  ~DiskCache() override;

  Blob get(const TierKey& key, uint64_t length) override;
  void put(const TierKey& key, const Blob& owner, std::string_view block) override;
  void refuse(const TierKey& key) override;
  void drop(const TierTable& table) override;
  uint64_t memory_bytes() const override { return blocks_->memory_bytes(); }

  struct Figures {
    DiskBlocks::Figures blocks;
    uint64_t hits = 0;
    uint64_t misses = 0;      // it isn't there, or not whole
    uint64_t late_reads = 0;  // given up, or not even begun
    uint64_t refused = 0;     // whole, but not what the table says
    uint64_t dropped_writes = 0;
    uint64_t errors = 0;  // 1: the cache is off
  };
  Figures figures() const;

 private:
  void write_queued();
  /// From any thread: tells once that the cache is off.
  void tell_failure();

  Loop& loop_;
  Trace& trace_;
  std::unique_ptr<DiskBlocks> blocks_;
  std::shared_ptr<size_t> reading_ = std::make_shared<size_t>(0);
  Figures counts_;
  std::atomic<bool> told_{false};
  std::atomic<bool> closing_{false};

  std::mutex mutex_;
  std::deque<DiskBlocks::Offered> queue_;
  uint64_t queued_bytes_ = 0;  // with what is being written
  bool writing_ = false;

  WorkerPool readers_;  // last: their threads use the rest
  WorkerPool writer_;
};

}  // namespace morula
