#include "prod/disk_cache/disk_cache.hpp"

#include <utility>
#include <vector>

#include "core/rt/sync.hpp"

namespace morula {
namespace {

constexpr size_t kReaders = 4;  // they wait for the disk, mostly
constexpr size_t kWrite = 0;    // before what is recovered: that takes longer
constexpr size_t kRecover = 1;
constexpr uint64_t kTakenAtOnce = 4 * kMiB;

}  // namespace

Result<std::unique_ptr<DiskCache>> DiskCache::open(Loop& loop, Trace& trace,
                                                   const DiskCachePlace& place) {
  auto blocks = DiskBlocks::open(place.directory, place.bytes);
  MORULA_TRY(blocks);
  return std::make_unique<DiskCache>(loop, trace, *std::move(blocks));
}

DiskCache::DiskCache(Loop& loop, Trace& trace, std::unique_ptr<DiskBlocks> blocks)
    : loop_(loop),
      trace_(trace),
      blocks_(std::move(blocks)),
      readers_(kReaders, "morula-dcache-r"),
      writer_(1, "morula-dcache-w") {
  // By a reader: what is offered meanwhile must not pile up.
  readers_.submit(kRecover, [this] {
    blocks_->recover();
    tell_failure();
  });
}

DiskCache::~DiskCache() {
  closing_ = true;
}

Blob DiskCache::get(const TierKey& key, uint64_t length) {
  if (blocks_->failed()) return nullptr;
  auto located = blocks_->locate(key);
  if (!located) {
    ++counts_.misses;
    return nullptr;
  }
  if (*reading_ >= kReadsMax) {
    ++counts_.late_reads;
    return nullptr;
  }
  ++*reading_;
  Completion<Blob> done;
  readers_.submit(0, [this, done, key, length, reading = reading_,
                      located = *std::move(located)]() mutable {
    Blob block;
    if (!closing_) block = blocks_->read(located, key, length);
    tell_failure();
    loop_.post([done = std::move(done), reading = std::move(reading), block = std::move(block)] {
      --*reading;
      done.complete(block);
    });
  });
  auto block = done.wait_until(loop_, loop_.now() + kPatience);
  if (!block) {
    ++counts_.late_reads;
    return nullptr;
  }
  ++(*block ? counts_.hits : counts_.misses);
  return *std::move(block);
}

void DiskCache::put(const TierKey& key, const Blob& owner, std::string_view block) {
  if (blocks_->failed() || blocks_->contains(key)) return;
  const std::lock_guard lock(mutex_);
  if (queued_bytes_ + block.size() > kQueuedBytesMax) {
    ++counts_.dropped_writes;
    return;
  }
  queued_bytes_ += block.size();
  queue_.push_back({key, owner, block});
  if (std::exchange(writing_, true)) return;
  writer_.submit(kWrite, [this] { write_queued(); });
}

void DiskCache::write_queued() {
  std::vector<DiskBlocks::Offered> taken;
  uint64_t bytes = 0;
  for (;;) {
    taken.clear();
    {
      const std::lock_guard lock(mutex_);
      queued_bytes_ -= bytes;
      bytes = 0;
      if (closing_ || queue_.empty()) {
        writing_ = false;
        return;
      }
      while (!queue_.empty() && bytes < kTakenAtOnce) {
        bytes += queue_.front().block.size();
        taken.push_back(std::move(queue_.front()));
        queue_.pop_front();
      }
    }
    blocks_->write(taken);
    tell_failure();
  }
}

void DiskCache::refuse(const TierKey& key) {
  ++counts_.refused;
  blocks_->forget(key);
}

void DiskCache::drop(const TierTable& table) {
  blocks_->drop(table);
}

void DiskCache::tell_failure() {
  if (!blocks_->failed() || told_.exchange(true)) return;
  loop_.post([&trace = trace_, why = blocks_->failure()->message] {
    trace.log(Severity::kWarning, "disk_cache_off",
              {{"why", why}, {"until", "the next start; reads go to the store"}});
  });
}

DiskCache::Figures DiskCache::figures() const {
  Figures figures = counts_;
  figures.blocks = blocks_->figures();
  figures.errors = blocks_->failed() ? 1 : 0;
  return figures;
}

}  // namespace morula
