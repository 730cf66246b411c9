#include "core/base/memory_budget.hpp"

namespace morula {

namespace {

// A read of so much is refused last.
constexpr uint64_t kSmallRead = 16 * kKiB;
// When the process is over its limit by this part of it.
constexpr uint64_t kFarOver = 16;
constexpr int64_t kRetryAfterMs = 1000;

// In flight an append is there twice, in its request and in the log; a read in its answer and in
// the blocks that it comes from.
constexpr uint64_t kCopies = 2;

uint64_t part_of_rest(const MemoryShares& shares) {
  return shares.left() / 4 * 3;
}

}  // namespace

std::string_view to_string(MemoryRefusal kind) {
  switch (kind) {
    case MemoryRefusal::kReadMemoryBusy:
      return "read_memory_busy";
    case MemoryRefusal::kAppendMemoryBusy:
      return "append_memory_busy";
    case MemoryRefusal::kRssShed:
      break;
  }
  return "rss_shed";
}

MemoryBudget::MemoryBudget(const MemoryShares& shares)
    : memory("all requests and caches", shares.limit),
      process(memory, "process", shares.process, shares.process),
      connections(memory, "connections", shares.connections, shares.connections),
      requests(memory, "requests", shares.requests, shares.requests),
      bodies(memory, "bodies", part_of_rest(shares)),
      reads(memory, "reads", part_of_rest(shares)),
      log(memory, "log", shares.log, shares.log),
      memtables(memory, "memtables", shares.memtables, shares.memtables),
      flushes(memory, "flushes", shares.flushes, shares.flushes),
      compactions(memory, "compactions", shares.compactions, shares.compactions),
      block_cache(memory, "block_cache", shares.block_cache, shares.block_cache),
      of_process_(process.hold(shares.process)) {}

Result<> MemoryBudget::admit(bool small) {
  if (!over_resident()) return {};
  if (small && resident_ <= memory.limit() + memory.limit() / kFarOver) return {};
  return fail(Error{ErrorCode::kShed,
                    "the process takes " + std::to_string(resident_) + " bytes of memory, of " +
                        std::to_string(memory.limit()) + " that it may",
                    kRetryAfterMs});
}

template <class Reserve>
auto MemoryBudget::counted(MemoryRefusal kind, Reserve reserve) {
  auto reserved = reserve();
  if (!reserved) {
    count(reserved.error().code == ErrorCode::kShed ? MemoryRefusal::kRssShed : kind);
    reserved.error().retry_after_ms = kRetryAfterMs;
  }
  return reserved;
}

Result<MemoryReservation> MemoryBudget::reserve_body(uint64_t bytes) {
  return counted(MemoryRefusal::kAppendMemoryBusy, [&]() -> Result<MemoryReservation> {
    if (bytes > 0) MORULA_TRY(admit(false));
    return bodies.try_reserve(kCopies * bytes);
  });
}

Result<> MemoryBudget::grow_body(MemoryReservation& body, uint64_t bytes) {
  if (kCopies * bytes <= body.bytes()) return {};
  return counted(MemoryRefusal::kAppendMemoryBusy, [&]() -> Result<> {
    MORULA_TRY(admit(false));
    return body.try_resize(kCopies * bytes);
  });
}

Result<MemoryReservation> MemoryBudget::reserve_read(uint64_t bytes) {
  return counted(MemoryRefusal::kReadMemoryBusy, [&]() -> Result<MemoryReservation> {
    MORULA_TRY(admit(bytes <= kSmallRead));
    return reads.try_reserve(kCopies * bytes);
  });
}

Result<> MemoryBudget::grow_read(MemoryReservation& read, uint64_t bytes) {
  if (kCopies * bytes <= read.bytes()) return {};
  return counted(MemoryRefusal::kReadMemoryBusy,
                 [&]() -> Result<> { return read.try_resize(kCopies * bytes); });
}

}  // namespace morula
