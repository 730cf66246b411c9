// Rules of ownership that can be broken on purpose (see mutant.hpp): who has which shard, and how
// it changes hands.
#pragma once

// name, rule that it breaks
#define MORULA_OWNERSHIP_MUTANTS(X)                                                       \
  X(skip_fence, "a taker does not fence the log")                                         \
  X(fence_without_second_list, "a fence counts without a second LIST")                    \
  X(skip_seal, "a taker does not seal the manifest")                                      \
  X(expire_without_cas, "a taker starts without having set the member to expired")        \
  X(adopt_position_too_low, "an adopted shard's own entry starts at the acked position")  \
  X(trim_reads_topology_first, "trim notes position and pins after reading the topology") \
  X(publish_on_later_version, "a takeover's CAS goes by a later version than it read")    \
  X(child_clip_wrong, "a split leaves the entries of its halves as wide as they were")    \
  X(merge_widens_clip, "a merge widens the clips of tables to the merged shard")          \
  X(merge_forgets_log_range, "a merge leaves out the log ranges of one of the two")       \
  X(clip_ignored_in_compaction, "a compaction takes rows outside of the clips")           \
  X(split_during_flush, "a flush goes on while its shard's split is open")                \
  X(topology_without_cas, "a change of the topology goes by whatever version is there")   \
  X(epoch_not_raised, "a change of owner leaves the epoch as it was")                     \
  X(logs_carried_over, "a row's logs are those of the row that it replaces")              \
  X(inherited_passes_as_flushed, "nobody flushes what a shard was divided with")          \
  X(seal_one_of_two, "of two shards that change together one is sealed")                  \
  X(handoff_keeps_writing, "the giver of a shard serves on while its CAS is open")        \
  X(handoff_rebases_version, "a giver's CAS goes by a later version than its ask")        \
  X(ask_again_new_position, "a repeated ask gets a new position instead of the first")    \
  X(resume_before_resolved, "a giver serves again while its CAS is unresolved")           \
  X(no_reopen, "a manifest stays sealed when the change that sealed it has failed")       \
  X(pin_dropped_early, "a receiver does not pin the position that it has promised")       \
  X(adopt_before_fence_check, "a taker adopts before the fence of the log counts")        \
  X(two_owners_replay_same_open_range, "an entry of the last owner stays open")           \
  X(takeover_before_lease_end, "a member is set to expired before its lease is over")     \
  X(stray_fence_counts, "any FENCE counts, whatever lies beyond it")                      \
  X(redirect_loop, "a request that was passed on is passed on again")                     \
  X(stale_route_wins, "an older topology replaces a newer one")                           \
  X(forward_drops_producer_headers, "a request is passed on without its producer")        \
  X(stale_state_decides, "what is in memory of a stream outlives another's having it")    \
  X(change_without_generation, "the newest row is found by its change number alone")      \
  X(plan_moves_too_much, "a plan is made anew instead of moving the excess alone")        \
  X(plan_allows_dangling_member, "a bucket may be on somebody who is no member")
