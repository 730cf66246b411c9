#include "sim/scenario/storms.hpp"

#include <iterator>

#include "sim/scenario/storm_parts.hpp"

namespace morula::sim {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

using Shape = void (*)(Plan&, Random&);

}  // namespace

void no_faults(Plan& plan, Random& /*random*/) {
  plan.faults = {};
}

void takeover_storm(Plan& plan, Random& random) {
  at_least_two(plan, random);
  set_lease(plan, seconds(2 + random.below(2)));
  plan.faults[Fault::crash] = 500;
  plan.faults[Fault::crash_at_step] = 400;
  plan.faults[Fault::crash_at_request] = 400;
  plan.faults[Fault::pause_long] = random.chance(1, 2) ? 200 : 0;
  plan.faults[Fault::stop] = random.chance(1, 2) ? 200 : 0;
}

void zombie_storm(Plan& plan, Random& random) {
  at_least_two(plan, random);
  set_lease(plan, seconds(2 + random.below(2)));
  plan.faults[Fault::pause_long] = 500;
  plan.faults[Fault::pause_at_step] = 500;
  plan.faults[Fault::pause_short] = 200;
  plan.faults[Fault::store_late] = 40;
  plan.faults[Fault::store_again] = 20;
  plan.faults[Fault::store_partition] = random.chance(1, 2) ? 300 : 0;
}

void store_storm(Plan& plan, Random& random) {
  for (Fault fault :
       {Fault::store_request_lost, Fault::store_answer_lost, Fault::store_late, Fault::store_again,
        Fault::store_conflict, Fault::store_error, Fault::store_error_applied,
        Fault::store_throttled, Fault::store_slow, Fault::store_half}) {
    plan.faults[fault] = 10 + static_cast<uint32_t>(random.below(60));
  }
}

/// Renewals and watches that are slow, lost or answered late, while others read and write on.
void lease_storm(Plan& plan, Random& random) {
  at_least_two(plan, random);
  set_lease(plan, seconds(3 + random.below(6)));
  plan.clients = 10;
  plan.client_pause = milliseconds(150);
  plan.streams = 8 + static_cast<uint32_t>(random.below(24));
  plan.store_speed = random.below(2);
  plan.clock_rate_permille = 47;
  plan.faults = {};
  plan.faults[Fault::clock_rate] = random.chance(1, 2) ? 100 : 0;
  if (random.chance(1, 2)) {
    set_attempts(plan, milliseconds(300 + random.below(500)));
    plan.faults[Fault::lease_stutter] = 500;
  } else {
    set_attempts(plan, seconds(2 + random.below(4)));
    plan.faults[Fault::stale_watch] = 500;
    plan.faults[Fault::store_partition] = 100;
  }
  plan.faults[Fault::pause_short] = random.chance(1, 4) ? 200 : 0;
}

/// Owners that can't renew their lease and don't know it yet: they write, flush and trim while they
/// are being fenced.
void zombie_writers(Plan& plan, Random& random) {
  log_storm(plan, random);
  set_attempts(plan, seconds(2 + random.below(4)));
  plan.instance.log.window = 1 + random.below(2);
  plan.faults[Fault::crash] = 0;
  plan.faults[Fault::pause_long] = 100;
  plan.faults[Fault::pause_at_request] = 300;
  plan.faults[Fault::store_purpose_cut] = 200;
  plan.faults[Fault::store_kind_slow] = 200;
  plan.faults[Fault::blind_writer] = 600;
}

/// Several owners at once, whose logs are busy when they take over from each other.
void many_owners(Plan& plan, Random& random) {
  log_storm(plan, random);
  plan.instances = 3 + static_cast<uint32_t>(random.below(2));
  plan.ghost_bits = 2;
  plan.streams = 16;
  set_attempts(plan, seconds(2 + random.below(4)));
  plan.one_machine = random.chance(1, 2);
  plan.downtime_max = seconds(2);
  plan.faults[Fault::crash] = 900;
  plan.faults[Fault::store_kind_slow] = 200;
  plan.faults[Fault::trim_slow] = 500;
}

/// Tables are merged and collected while they are being read, by owners that come and go.
void garbage_storm(Plan& plan, Random& random) {
  at_least_two(plan, random);
  set_lease(plan, seconds(2 + random.below(2)));
  plan.client_pause = milliseconds(60);
  plan.store_speed = 2;
  InstanceConfig& config = plan.instance;
  config.collect_interval = milliseconds(100 + random.below(400));
  config.block_cache_bytes = 16 * kKiB;
  config.stream.read_bytes_max = 4000;
  config.shard.unflushed_bytes_max = 6000;
  config.shard.compaction.stack_tables = 2;
  config.shard.compaction.bottom_stack_tables = 2;
  config.shard.compaction.bottom_stack_bytes = 3000;
  config.shard.compaction.table_bytes = 2000;
  plan.faults[Fault::crash] = 300;
  plan.faults[Fault::pause_long] = 200;
  plan.faults[Fault::store_slow] = 60;
  plan.faults[Fault::bit_flip] = 20;
}

/// A second tier that damages and loses what it was given, under a block cache that has little
/// room.
void disk_storm(Plan& plan, Random& random) {
  garbage_storm(plan, random);
  plan.faults[Fault::bit_flip] = 0;
  plan.disk.present = true;
  plan.disk.damage_permille = 100;
  plan.disk.bytes_max = 16 * kMiB;
}

/// A full window, holes in it, small flushes and trims at once behind them.
void log_storm(Plan& plan, Random& random) {
  at_least_two(plan, random);
  set_lease(plan, seconds(2 + random.below(2)));
  plan.clients = 10;
  plan.client_pause = milliseconds(60);
  LogConfig& log = plan.instance.log;
  log.window = 2 + random.below(3);
  log.batch_bytes_max = 300;
  log.flush_interval = milliseconds(1);
  log.puts_per_second = 0;
  plan.store_speed = 1 + random.below(2);
  plan.instance.trim_interval = milliseconds(200);
  plan.instance.shard.held_log_objects_max = 12;
  plan.instance.shard.unflushed_bytes_max = 12'000;
  plan.faults[Fault::store_slow] = 60;
  plan.faults[Fault::store_request_lost] = 40;
  plan.faults[Fault::store_late] = 40;
  plan.faults[Fault::crash] = 400;
  plan.faults[Fault::pause_long] = 200;
}

/// What was seen of a real S3 server: the loser of a race hears 500, equal contents have equal
/// etags, and now and then an answer is an error or doesn't come.
void s3_races(Plan& plan, Random& random) {
  at_least_two(plan, random);
  set_lease(plan, seconds(2 + random.below(2)));
  plan.store_speed = 1;
  plan.manners = {};
  plan.manners.etag_is_content = true;
  plan.manners.loser_error_percent = 90;
  plan.faults = {};
  plan.faults[Fault::crash] = 300;
  plan.faults[Fault::pause_long] = 300;
  plan.faults[Fault::store_conflict] = 20;
  plan.faults[Fault::store_error] = 20;
  plan.faults[Fault::store_error_applied] = 20;
  plan.faults[Fault::store_answer_lost] = 10;
  plan.faults[Fault::store_throttled] = random.chance(1, 2) ? 20 : 0;
}

/// Little memory, and a store that takes tables slowly or not at all for a while.
void memory_storm(Plan& plan, Random& random) {
  at_least_two(plan, random);
  plan.clients = 12;
  plan.client_pause = milliseconds(60);
  plan.store_speed = 1 + random.below(2);
  InstanceConfig& config = plan.instance;
  config.first_prefix_bits = static_cast<uint8_t>(random.below(2));
  config.shard.unflushed_bytes_max = 60'000;
  config.shard.compaction.stack_tables = 2;
  config.stream.read_bytes_max = random.chance(1, 2) ? 4000 : 20'000;
  MemoryShares& shares = plan.memory.shares;
  shares.memtables = 60'000 + 60'000 * random.below(3);
  const CompactionConfig& compaction = config.shard.compaction;  // a few at a time
  shares.compactions = 2 * (compaction.table_bytes + 64 * compaction.window_bytes);
  // The largest append, some 200 KB, has to fit: twice, into three quarters of it.
  const uint64_t left = 700'000 + 300'000 * random.below(3);
  shares.limit = shares.set_aside() + left;
  // Over the limit when about half of what is left is in use.
  const uint64_t usual = shares.process + shares.memtables + 2 * config.block_cache_bytes;
  if (random.chance(1, 3)) {
    plan.memory.resident_percent = shares.limit / ((usual + left / 2) / 100);
  }
  plan.faults[Fault::store_purpose_cut] = 600;
  plan.faults[Fault::store_kind_slow] = 300;
  plan.faults[Fault::crash] = 100;
}

void network_storm(Plan& plan, Random& random) {
  at_least_two(plan, random);
  plan.faults[Fault::partition] = 500;
  plan.faults[Fault::slow_link] = 300;
  plan.faults[Fault::request_lost] = 40;
  plan.faults[Fault::answer_lost] = 40;
}

void restart_same_name(Plan& plan, Random& random) {
  plan.instances = 1 + static_cast<uint32_t>(random.below(2));
  plan.one_machine = random.chance(1, 2);
  set_lease(plan, seconds(2));
  plan.downtime_max = milliseconds(random.chance(1, 2) ? 0 : 300);
  plan.faults[Fault::crash] = 800;
  plan.faults[Fault::crash_at_step] = 400;
  plan.faults[Fault::stop] = 200;
}

void two_standbys(Plan& plan, Random& random) {
  plan.instances = 3;
  plan.one_machine = random.chance(1, 3);
  set_lease(plan, seconds(2));
  plan.faults[Fault::crash] = 300;
  plan.faults[Fault::crash_at_step] = 300;
  plan.faults[Fault::pause_long] = 300;
  plan.faults[Fault::clock_rate] = 100;
}

void rolling_stops(Plan& plan, Random& random) {
  at_least_two(plan, random);
  set_lease(plan, seconds(2));
  plan.instance.stop_grace = milliseconds(500);
  plan.downtime_max = seconds(2);
  plan.faults[Fault::stop] = 1200;
  plan.faults[Fault::store_slow] = 40;
  plan.faults[Fault::store_request_lost] = random.chance(1, 2) ? 40 : 0;
}

void deletes_and_creates(Plan& plan, Random& random) {
  plan.streams = 1 + static_cast<uint32_t>(random.below(2));
  plan.clients_delete = true;
  plan.instance.shard.unflushed_bytes_max = 12'000;
  plan.instance.shard.held_log_objects_max = 15;
  plan.faults[Fault::crash] = 300;
}

/// Streams with a deadline, whose owners change, forget and have clocks that disagree, while
/// compaction is right behind their ends.
void expiry_storm(Plan& plan, Random& random) {
  at_least_two(plan, random);
  set_lease(plan, seconds(2 + random.below(2)));
  plan.mortal_percent = 100;
  plan.streams = 6 + static_cast<uint32_t>(random.below(12));
  // Where little is written, what has been answered is not soon in the log by chance.
  plan.clients = random.chance(1, 2) ? 3 : 8;
  plan.client_pause = milliseconds(random.chance(1, 2) ? 60 : 200);
  constexpr uint64_t kWallErrors[] = {20, 4000, 20'000};
  plan.wall_error_max_ms = kWallErrors[random.below(std::size(kWallErrors))];
  plan.instance.collect_interval = milliseconds(random.chance(1, 2) ? 300 : 5000);
  InstanceConfig& config = plan.instance;
  config.stream.cached_streams_max = random.chance(1, 2) ? 1 : 10'000;
  config.shard.unflushed_bytes_max = random.chance(1, 2) ? 2000 : 6000;
  config.shard.held_log_objects_max = random.chance(1, 2) ? 3 : 15;
  config.shard.compaction.stack_tables = 2;
  config.shard.compaction.bottom_stack_tables = 2;
  config.shard.compaction.table_bytes = 2000;
  config.shard.compaction.read_bytes_per_second = random.chance(1, 2) ? 0 : 10'000;
  plan.store_speed = random.below(3);
  plan.faults[Fault::crash] = 300;
  plan.faults[Fault::pause_long] = 200;
  plan.faults[Fault::wall_step] = random.chance(1, 2) ? 300 : 0;
  plan.faults[Fault::clock_rate] = random.chance(1, 2) ? 100 : 0;
}

/// Owners with clocks far apart die all the time, and little is written meanwhile: what one has
/// answered as over is over for the next, who has nothing but the log to know it from.
void expiry_takeovers(Plan& plan, Random& random) {
  expiry_storm(plan, random);
  plan.faults = {};
  plan.instances = 3;
  plan.one_machine = true;
  plan.wall_error_max_ms = 20'000;
  plan.clients = 3;
  plan.client_pause = milliseconds(60);
  plan.streams = 6;
  plan.downtime_max = milliseconds(500);
  plan.faults[Fault::crash] = 1500;
}

void clock_beyond_bound(Plan& plan, Random& random) {
  lease_storm(plan, random);
  plan.mortal_percent = 0;  // what a stale owner keeps alive is gone for the true one
  // What a stale owner still reads is garbage for the true one: it would be told as damage.
  plan.instance.collect_interval = std::chrono::hours(1);
  plan.instances = 3;
  plan.one_machine = false;
  plan.faults = {};
  plan.clock_rate_permille = 400;
  plan.faults[Fault::clock_rate] = 500;
  plan.faults[Fault::store_purpose_cut] = 600;
  plan.faults[Fault::store_partition] = 400;
}

/// What the swarm draws, or one of the storms on top of it.
void anything(Plan& plan, Random& random) {
  constexpr Shape kStorms[] = {
      takeover_storm, zombie_storm,      store_storm,  lease_storm,   log_storm,
      network_storm,  restart_same_name, two_standbys, rolling_stops, deletes_and_creates,
      zombie_writers, many_owners,       expiry_storm, garbage_storm, disk_storm,
      memory_storm,   split_merge_storm, move_storm,   lineage_races, slow_handoffs,
      topology_crowd};
  if (random.chance(1, 2)) kStorms[random.below(std::size(kStorms))](plan, random);
}

}  // namespace morula::sim
