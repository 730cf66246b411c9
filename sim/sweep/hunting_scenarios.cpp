// Which scenario hunts which mutant: measured, not guessed. Those that any storm finds soon are
// left to the default.
#include "sim/sweep/mutants.hpp"

namespace morula::sim {

std::string_view hunting_scenario(Mutant mutant) {
  switch (mutant) {
    case Mutant::stop_fence_too_early:
      return "rolling_stops";
    case Mutant::fence_without_second_list:
      return "zombie_writers";
    case Mutant::serve_after_lease:
    case Mutant::lease_from_answer:
    case Mutant::lease_from_repeat:
    case Mutant::watch_from_send:
    case Mutant::lease_without_margin:
      return "lease_storm";
    case Mutant::iterator_without_pin:
    case Mutant::gc_young_table:
    case Mutant::gc_collects_when_over:
    case Mutant::checksum_ignored:
      return "garbage_storm";
    case Mutant::disk_block_unchecked:
    case Mutant::disk_key_without_incarnation:
      return "disk_storm";
    case Mutant::ttl_renewal_not_ahead:
    case Mutant::wall_floor_ignored:
    case Mutant::end_not_written:
    case Mutant::expiry_differs_after_compaction:
      return "expiry_storm";
    case Mutant::durable_wall_too_high:
    case Mutant::floor_not_raised:
      return "expiry_takeovers";
    case Mutant::trim_reads_topology_first:
    case Mutant::adopt_position_too_low:
    case Mutant::listing_skips_shard:
      return "many_owners";
    case Mutant::backlog_unbounded:
      return "memory_storm";
    case Mutant::child_clip_wrong:
    case Mutant::merge_widens_clip:
    case Mutant::merge_forgets_log_range:
    case Mutant::clip_ignored_in_compaction:
    case Mutant::split_during_flush:
    case Mutant::seal_one_of_two:
      return "lineage_races";
    case Mutant::inherited_passes_as_flushed:
    case Mutant::tables_without_turn:
      return "split_backlog";
    case Mutant::topology_without_cas:
    case Mutant::logs_carried_over:
    case Mutant::no_reopen:
      return "topology_crowd";
    case Mutant::handoff_keeps_writing:
    case Mutant::stale_state_decides:
    case Mutant::handoff_rebases_version:
    case Mutant::ask_again_new_position:
    case Mutant::resume_before_resolved:
    case Mutant::pin_dropped_early:
      return "slow_handoffs";
    default:
      return "default";
  }
}

}  // namespace morula::sim
