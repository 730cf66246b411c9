// Rules that can be broken on purpose. `morula-sim mutants` switches one on and must see an
// invariant fail: a mutant that survives is a hole in the tests.
//
// Only the simulator's build of core defines MORULA_MUTANTS; everywhere else `mutated(...)` is the
// constant false and the broken branch is not in the binary.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/base/ownership_mutants.hpp"

namespace morula {

// name, rule that it breaks

// Those of ownership: ownership_mutants.hpp.
#define MORULA_OTHER_MUTANTS(X)                                                            \
  X(ack_before_durable, "an answer does not wait for its log position")                    \
  X(ack_out_of_order, "a batch is acknowledged before those below it have landed")         \
  X(window_by_count, "the window counts PUTs in flight instead of spanning W seqs")        \
  X(replay_one_short, "replay stops one object before the end of a closed range")          \
  X(trim_without_cas, "trim goes by a flush whose CAS has not succeeded")                  \
  X(trim_into_window, "trim deletes the last W landed objects")                            \
  X(own_412_is_fence, "a 412 on an own seq counts as fenced without reading it")           \
  X(other_412_is_success, "a 412 on an own seq counts as landed without reading it")       \
  X(unknown_is_failure, "an unknown outcome of a swap counts as failed")                   \
  X(serve_after_lease, "reads are answered without a look at the lease")                   \
  X(dedupe_not_replayed, "replay leaves out producer rows")                                \
  X(duplicate_before_durable, "a duplicate is answered before the original is durable")    \
  X(old_generation_shows, "rows of an older generation are read")                          \
  X(lease_from_answer, "the lease counts from the answer of a renewal")                    \
  X(lease_from_repeat, "the lease counts from the last repeat of a renewal")               \
  X(watch_from_send, "a watch counts from when its read was sent")                         \
  X(expired_is_renewed, "an expired member document is renewed")                           \
  X(stop_fence_too_early, "a clean stop writes its fence before its batches have landed")  \
  X(read_before_durable, "a read is answered before what it shows is durable")             \
  X(refusal_before_durable, "a refusal is answered before what it rests on is durable")    \
  X(flush_unacknowledged, "a flush takes what is not acknowledged")                        \
  X(lease_without_margin, "a lease is used to its end, without its margin")                \
  X(forward_repeats_unknown, "a forward whose outcome is unknown is sent again")           \
  X(tombstone_dropped_early, "a compaction drops a tombstone whose row lies elsewhere")    \
  X(mark_not_raised, "a dropped generation's number is drawn again")                       \
  X(compact_on_old_manifest, "a compaction goes by the manifest that it began with")       \
  X(iterator_without_pin, "a read whose table was merged meanwhile is not begun again")    \
  X(gc_young_table, "a table is garbage before its manifest is known to be lost")          \
  X(gc_young_manifest, "a manifest is garbage before its CAS is known to be lost")         \
  X(gc_deletes_fence, "the FENCE of a dead incarnation is garbage, too")                   \
  X(collect_unfenced_stopped, "the log of who has stopped is garbage without a fence")     \
  X(gc_reads_manifests_before_topology, "what is in use is read before what lies there")   \
  X(checksum_ignored, "a block of a table whose checksum is wrong is used")                \
  X(disk_block_unchecked, "a block of the second tier is used as it is")                   \
  X(disk_key_without_incarnation, "the second tier tells tables apart by number alone")    \
  X(ttl_renewal_not_ahead, "a TTL is renewed in memory, not in the stream's row")          \
  X(wall_floor_ignored, "expiry goes by the own wall clock alone")                         \
  X(end_not_written, "a stream is answered as gone before later owners must agree")        \
  X(expiry_differs_after_compaction, "a compaction's time is later than its rows")         \
  X(durable_wall_too_high, "the own time counts as one that later owners must begin with") \
  X(floor_not_raised, "a flush does not carry the log's floor of time on")                 \
  X(gc_collects_when_over, "a member that is expired collects garbage")                    \
  X(index_row_not_written, "a creation is not listed")                                     \
  X(deleted_stays_listed, "a deletion leaves the stream's index row as it is")             \
  X(listing_skips_shard, "a shard that does not answer is left out of a listing")          \
  X(listing_before_durable, "a listing is answered before what it shows is durable")       \
  X(index_dropped_early, "a flush does not write the rows of the index")                   \
  X(cut_body_passes_as_whole, "a forwarded body that was cut ends as if it were whole")    \
  X(reservation_leak, "memory that was reserved is not given back")                        \
  X(tables_without_turn, "flushes and merges do not wait for memory for their tables")     \
  X(backlog_unbounded, "appends are taken whatever is not in tables yet")

#define MORULA_MUTANT_LIST(X) \
  MORULA_OTHER_MUTANTS(X)     \
  MORULA_OWNERSHIP_MUTANTS(X)

enum class Mutant : uint8_t {
  none,
#define MORULA_MUTANT_ENUM(name, rule) name,
  MORULA_MUTANT_LIST(MORULA_MUTANT_ENUM)
#undef MORULA_MUTANT_ENUM
};

#ifdef MORULA_MUTANTS
inline Mutant active_mutant = Mutant::none;  // set once, before a world starts
inline bool mutated(Mutant mutant) {
  return active_mutant == mutant;
}
#else
constexpr bool mutated(Mutant) {
  return false;
}
#endif

}  // namespace morula
