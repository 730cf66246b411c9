// The memory of one process that serves: how much each of its parts may take, and who is refused
// when there is no more.
//
//   memory        all of it: ADMIT_RSS_SHED_MB
//     process       code, threads, stacks of its own fibers, buffers: what an idle one takes
//     connections   a fixed charge each; waiting live readers are to be charged here as well
//     requests      a fixed charge for each under way: its fiber's stack, its head
//     bodies        of requests, from before they are read until they are answered
//     reads         answers, from before they are put together until the client has taken them
//     log           batches that are gathered or on their way
//     memtables     rows that are not in tables yet; on top, each shard's begun chunk
//     flushes       tables that are being written from memtables
//     compactions   tables that are being merged into others
//     block_cache   blocks of tables, and what open tables keep in memory
//
// For all but bodies and reads their whole bound is set aside: they neither starve nor are starved.
// Bodies and reads share what is left; neither can take all of it. Besides, the process's real size
// is looked at from time to time: over the limit, what costs memory is refused, small reads last,
// and deletes never.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "core/base/memory_account.hpp"
#include "core/base/units.hpp"

namespace morula {

/// In bytes.
struct MemoryShares {
  uint64_t limit = kMiB * 1024;
  uint64_t process = 24 * kMiB;
  uint64_t connections = 16 * kMiB;
  uint64_t requests = 64 * kMiB;
  uint64_t log = 32 * kMiB;
  uint64_t memtables = 64 * kMiB;
  uint64_t flushes = 32 * kMiB;
  uint64_t compactions = 48 * kMiB;
  uint64_t block_cache = 64 * kMiB;

  uint64_t set_aside() const {
    return process + connections + requests + log + memtables + flushes + compactions + block_cache;
  }
  /// What bodies and reads share.
  uint64_t left() const { return limit - (set_aside() < limit ? set_aside() : limit); }
};

/// Why somebody was refused.
enum class MemoryRefusal : uint8_t { kReadMemoryBusy, kAppendMemoryBusy, kRssShed };
constexpr size_t kMemoryRefusals = 3;
/// "read_memory_busy", ...: the code of the answer, and the label of the count.
std::string_view to_string(MemoryRefusal kind);

class MemoryBudget {
 public:
  explicit MemoryBudget(const MemoryShares& shares);

  /// For a body of `bytes`, and for its copy in the log. kBusy, kShed; counted.
  Result<MemoryReservation> reserve_body(uint64_t bytes);
  /// The same for a body that has grown.
  Result<> grow_body(MemoryReservation& body, uint64_t bytes);
  /// For an answer of `bytes`, and for the blocks that it is copied from. kBusy, kShed; counted.
  Result<MemoryReservation> reserve_read(uint64_t bytes);
  /// The answer turns out larger. As above.
  Result<> grow_read(MemoryReservation& read, uint64_t bytes);
  /// The answer is there, and has so many bytes.
  static void settle_read(MemoryReservation& read, uint64_t bytes) { read.resize(bytes); }

  /// What the process really takes at the moment, as somebody has seen who can.
  void note_resident(uint64_t bytes) { resident_ = bytes; }
  uint64_t resident() const { return resident_; }
  bool over_resident() const { return resident_ > memory.limit(); }

  void count(MemoryRefusal kind) { ++refusals_[static_cast<size_t>(kind)]; }
  uint64_t refusals(MemoryRefusal kind) const { return refusals_[static_cast<size_t>(kind)]; }

  MemoryAccount memory;
  MemoryAccount process;
  MemoryAccount connections;
  MemoryAccount requests;
  MemoryAccount bodies;
  MemoryAccount reads;
  MemoryAccount log;
  MemoryAccount memtables;
  MemoryAccount flushes;
  MemoryAccount compactions;
  MemoryAccount block_cache;

 private:
  Result<> admit(bool small);
  template <class Reserve>
  auto counted(MemoryRefusal kind, Reserve reserve);

  MemoryReservation of_process_;
  uint64_t resident_ = 0;
  std::array<uint64_t, kMemoryRefusals> refusals_{};
};

}  // namespace morula
