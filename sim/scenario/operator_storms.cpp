// Storms whose operators divide, join and move shards.
#include "sim/scenario/storm_parts.hpp"
#include "sim/scenario/storms.hpp"

namespace morula::sim {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// Crashes, pauses and stores as storms have them, in half of the worlds; in the others nothing but
/// what operators ask for.
void fault_half(Plan& plan, Random& random) {
  plan.faults = {};
  if (random.chance(1, 2)) return;
  set_lease(plan, seconds(2 + random.below(2)));
  for (const Fault fault : {Fault::crash, Fault::crash_at_step, Fault::crash_at_request,
                            Fault::pause_long, Fault::pause_at_step, Fault::pause_at_request}) {
    plan.faults[fault] = random.chance(1, 2) ? 300 : 0;
  }
  for (const Fault fault :
       {Fault::store_late, Fault::store_again, Fault::store_answer_lost, Fault::store_request_lost,
        Fault::store_error_applied, Fault::store_slow}) {
    plan.faults[fault] = random.chance(1, 2) ? 30 : 0;
  }
}

}  // namespace

/// Few bits, so that the same lineages are divided and joined again and again.
void split_merge_storm(Plan& plan, Random& random) {
  at_least_two(plan, random);
  fault_half(plan, random);
  plan.operators.count = 1 + static_cast<uint32_t>(random.below(2));
  plan.operators.pause = milliseconds(100 + random.below(400));
  plan.operators.bits_max = static_cast<uint8_t>(2 + random.below(3));
  plan.operators.moves = random.chance(1, 2) ? 1 : 0;
  plan.streams = 12;
  plan.clients = 8;
  plan.instance.shard.unflushed_bytes_max = random.chance(1, 2) ? 12'000 : 100'000;
  plan.instance.trim_interval = milliseconds(random.chance(1, 2) ? 200 : 2000);
}

void move_storm(Plan& plan, Random& random) {
  at_least_two(plan, random);
  fault_half(plan, random);
  plan.operators.count = 1 + static_cast<uint32_t>(random.below(3));
  plan.operators.pause = milliseconds(100 + random.below(400));
  plan.operators.splits = 1;
  plan.operators.merges = 1;
  plan.operators.moves = 10;
  plan.operators.relocations = static_cast<uint32_t>(random.below(2));
  plan.operators.bits_max = 2;
  plan.instance.first_prefix_bits = static_cast<uint8_t>(random.below(3));
  plan.instance.shard.unflushed_bytes_max = random.chance(1, 2) ? 12'000 : 100'000;
  plan.instance.trim_interval = milliseconds(random.chance(1, 2) ? 200 : 2000);
  if (random.chance(1, 3)) {
    plan.faults[Fault::request_lost] = 40;
    plan.faults[Fault::answer_lost] = 40;
    plan.faults[Fault::partition] = 200;
  }
}

/// Handoffs that take long, while the receiver writes, flushes and trims its log, and hears of them
/// late or twice.
void slow_handoffs(Plan& plan, Random& random) {
  plan.faults = {};
  plan.instances = 3;
  plan.ghost_bits = 2;
  plan.clients = 10;
  plan.client_pause = milliseconds(60);
  plan.streams = 16;
  plan.mortal_percent = 0;
  set_lease(plan, seconds(8));
  plan.operators.count = 3;
  plan.operators.pause = milliseconds(100);
  plan.operators.splits = 1;
  plan.operators.merges = 1;
  plan.operators.moves = 10;
  plan.operators.bits_max = 3;
  plan.ownership_delay = milliseconds(200 + random.below(600));
  InstanceConfig& config = plan.instance;
  config.trim_interval = milliseconds(100);
  config.log.window = 1 + random.below(2);
  config.log.batch_bytes_max = 300;
  config.log.flush_interval = milliseconds(1);
  config.log.puts_per_second = 0;
  config.shard.held_log_objects_max = 4;
  config.shard.unflushed_bytes_max = 12'000;
  plan.store_speed = random.below(2);
  const uint64_t kind = random.below(3);
  if (kind == 0) plan.faults[Fault::crash] = 200;
  if (kind == 1) {
    plan.faults[Fault::request_lost] = 100;
    plan.faults[Fault::answer_lost] = 50;
  }
  if (kind == 2) {  // few meet each other, and what was asked again comes late, and twice
    plan.instances = 2;
    plan.faults[Fault::request_lost] = 80;
    plan.ownership_delay = milliseconds(1000 + random.below(1000));
  }
}

/// Slow changes that meet each other, so that many lose their CAS; and receivers that are another
/// incarnation by the next attempt, or say nothing for a while.
void topology_crowd(Plan& plan, Random& random) {
  plan.faults = {};
  plan.instances = 4;
  plan.operators.count = 8;
  plan.operators.pause = milliseconds(30);
  plan.operators.moves = 10;
  plan.operators.bits_max = 3;
  plan.operators.nonsense = 0;
  plan.ghost_bits = 3;
  plan.ownership_delay = milliseconds(50 + random.below(150));
  set_lease(plan, seconds(8));
  plan.one_machine = random.chance(2, 3);
  plan.downtime_max = milliseconds(100);
  plan.faults[Fault::crash] = 1500;
  plan.faults[Fault::pause_short] = 400;
}

/// Everything that changes a manifest, of two or three shards.
void lineage_races(Plan& plan, Random& random) {
  garbage_storm(plan, random);
  fault_half(plan, random);
  plan.operators.count = 2 + static_cast<uint32_t>(random.below(2));
  plan.operators.pause = milliseconds(50 + random.below(200));
  plan.operators.bits_max = static_cast<uint8_t>(1 + random.below(2));
  plan.operators.two_at_once = 6;
  plan.instance.trim_interval = milliseconds(200);
  plan.instance.shard.held_log_objects_max = 12;
  plan.clients_delete = random.chance(1, 2);
}

/// Memory is short, and shards are divided faster than they are flushed.
void split_backlog(Plan& plan, Random& random) {
  memory_storm(plan, random);
  plan.faults = {};
  plan.operators.count = 2;
  plan.operators.pause = milliseconds(20 + random.below(100));
  plan.operators.moves = 0;
  plan.operators.bits_max = 1;
  plan.instance.shard.unflushed_bytes_max = 30'000;  // chunks that were only begun are small
}

/// A change of the topology takes seconds here, so that whoever waits for one is told apart.
void split_quiet(Plan& plan, Random& random) {
  no_faults(plan, random);
  plan.ghost_bits = 0;
  plan.disk = {};
  plan.store_speed = 0;
  plan.manners.loser_error_percent = 0;
  plan.ownership_delay = milliseconds(700);
  plan.answer_within = milliseconds(600);
  plan.operators.count = 1;
  plan.operators.pause = milliseconds(100);
  plan.operators.moves = 0;
  plan.operators.bits_max = static_cast<uint8_t>(1 + random.below(4));
  plan.streams = 12;
  InstanceConfig& config = plan.instance;
  config.first_prefix_bits = 0;
  config.forward_timeout = seconds(30);
  config.retry.attempt_timeout = seconds(5);
  config.shard.retry = config.retry;
  config.shard.unflushed_bytes_max = kMiB;
  config.log.puts_per_second = 0;
  config.log.batch_bytes_max = kMiB;
  plan.memory.shares.memtables = 64 * kMiB;
}

}  // namespace morula::sim
