#include "sim/scenario/plan.hpp"

#include <iterator>

namespace morula::sim {

namespace {

using std::chrono::milliseconds;

template <class T, size_t N>
T pick(Random& random, const T (&choices)[N]) {
  return choices[random.below(N)];
}

constexpr uint32_t kInstances[] = {1, 2, 2, 3, 3, 3, 3, 4};
constexpr uint32_t kClients[] = {4, 6, 8, 8, 8, 10};
constexpr int64_t kClientPauseMs[] = {60, 100, 150, 200, 300};
constexpr uint32_t kStreams[] = {1, 3, 6, 12};
constexpr uint32_t kMortalPercent[] = {0, 0, 25, 50, 100};
constexpr uint64_t kWallErrorMs[] = {0, 20, 300, 4000};
constexpr size_t kPageKeys[] = {2, 5, 50, 1000};
constexpr uint64_t kLoserErrorPercent[] = {0, 0, 80, 100};

constexpr uint64_t kWindow[] = {1, 2, 3, 4, 8, 8};
constexpr uint64_t kBatchBytes[] = {300, 1000, 4000, kMiB};
constexpr int64_t kFlushIntervalMs[] = {1, 10, 100, 100};
constexpr uint64_t kPutsPerSecond[] = {0, 0, 5, 20};
constexpr uint64_t kPutsAtOnce[] = {1, 2, 2, 3};
constexpr int64_t kLeaseMs[] = {2000, 3000, 4000, 6000, 12'000};
constexpr int64_t kWatchMs[] = {100, 300, 1000};
constexpr uint64_t kUnflushedBytes[] = {20'000, 40'000, 100'000, kMiB};
// An append of a client has some 200 KB at most.
constexpr uint64_t kMemtableBytesMin = 700'000;
constexpr uint64_t kStackTables[] = {2, 3, 4};
constexpr uint64_t kBottomStackTables[] = {2, 3};
constexpr uint64_t kBottomStackBytes[] = {1, 3000, 20'000, 64 * kMiB};
constexpr uint32_t kDeepestLevels[] = {1, 2, 6};
constexpr uint64_t kTableBytes[] = {2000, 10'000, 16 * kMiB};
constexpr uint64_t kWindowBytes[] = {1000, 8000, kMiB};
constexpr uint64_t kCompactionRate[] = {0, 0, 20'000};
constexpr uint64_t kHeldObjects[] = {25, 60, 150, 500};
constexpr uint64_t kCacheBytes[] = {128 * kKiB, 512 * kKiB, kMiB};
constexpr uint64_t kReadBytes[] = {500, 4000, 20'000, kMiB};
constexpr uint64_t kCachedStreams[] = {1, 3, 10'000};
constexpr int64_t kTrimMs[] = {300, 1000, 3000, 10'000};
constexpr int64_t kCollectMs[] = {2000, 5000, 20'000};
constexpr int64_t kAttemptMs[] = {400, 1000, 2000, 5000};
constexpr int64_t kForwardMs[] = {2000, 5000, 30'000};
constexpr uint64_t kBodyWindow[] = {300, 2000, 64 * kKiB};
constexpr int64_t kSilenceMs[] = {500, 3000, 30'000};
constexpr int64_t kGraceMs[] = {500, 3000, 10'000};
constexpr uint64_t kDiskBytes[] = {20'000, 200'000, 16 * kMiB};
constexpr uint64_t kDiskRates[] = {0, 10, 100};
constexpr uint8_t kGhostBits[] = {0, 0, 0, 0, 1, 2};
constexpr uint8_t kPrefixBits[] = {0, 0, 0, 1, 2};
constexpr uint32_t kOperators[] = {0, 0, 0, 1, 2};
constexpr int64_t kOperatorPauseMs[] = {200, 1000, 5000};
constexpr uint8_t kOperatorBits[] = {1, 2, 3, 4};

// Per mille of requests, or hundredths of events per active phase.
constexpr uint32_t kRequestRates[] = {2, 5, 20, 60};
constexpr uint32_t kEventRates[] = {50, 100, 200, 500};

bool befalls_requests(Fault fault) {
  return fault >= Fault::request_lost;
}

void draw_faults(Random& random, FaultNumbers& faults) {
  for (size_t i = 0; i < kFaults; ++i) {
    if (!random.chance(2, 5)) continue;
    faults.at(i) = befalls_requests(static_cast<Fault>(i)) ? pick(random, kRequestRates)
                                                           : pick(random, kEventRates);
  }
}

RetryConfig draw_retry(Random& random) {
  RetryConfig retry;
  retry.attempt_timeout = milliseconds(pick(random, kAttemptMs));
  retry.backoff_max = milliseconds(random.chance(1, 2) ? 200 : 1000);
  return retry;
}

LeaseConfig draw_lease(Random& random) {
  LeaseConfig lease;
  lease.lease = milliseconds(pick(random, kLeaseMs));
  lease.heartbeat = lease.lease / (random.chance(1, 2) ? 4 : 3);
  const int64_t alone = random.chance(1, 2) ? 1 : 2;
  lease.lease_alone = lease.lease * alone;
  lease.heartbeat_alone = lease.heartbeat * alone;
  lease.watch_interval = milliseconds(pick(random, kWatchMs));
  return lease;
}

InstanceConfig draw_instance(Random& random) {
  InstanceConfig config;
  config.retry = draw_retry(random);
  config.log.window = pick(random, kWindow);
  config.log.batch_bytes_max = pick(random, kBatchBytes);
  config.log.flush_interval = milliseconds(pick(random, kFlushIntervalMs));
  config.log.puts_per_second = pick(random, kPutsPerSecond);
  config.log.puts_at_once = pick(random, kPutsAtOnce);
  config.log.retry = config.retry;
  config.lease = draw_lease(random);
  config.shard.unflushed_bytes_max = pick(random, kUnflushedBytes);
  config.shard.held_log_objects_max = pick(random, kHeldObjects);
  config.shard.retry = config.retry;
  CompactionConfig& compaction = config.shard.compaction;
  compaction.stack_tables = pick(random, kStackTables);
  compaction.bottom_stack_tables = pick(random, kBottomStackTables);
  compaction.bottom_stack_bytes = pick(random, kBottomStackBytes);
  compaction.deepest_level = pick(random, kDeepestLevels);
  compaction.table_bytes = pick(random, kTableBytes);
  compaction.window_bytes = pick(random, kWindowBytes);
  compaction.read_bytes_per_second = pick(random, kCompactionRate);
  config.stream.read_bytes_max = pick(random, kReadBytes);
  config.stream.cached_streams_max = pick(random, kCachedStreams);
  config.block_cache_bytes = pick(random, kCacheBytes);
  config.trim_interval = milliseconds(pick(random, kTrimMs));
  config.collect_interval = milliseconds(pick(random, kCollectMs));
  config.forward_timeout = milliseconds(pick(random, kForwardMs));
  config.stop_grace = milliseconds(pick(random, kGraceMs));
  config.first_prefix_bits = pick(random, kPrefixBits);
  config.forward_body.window_bytes = pick(random, kBodyWindow);
  config.forward_body.silence = milliseconds(pick(random, kSilenceMs));
  return config;
}

/// Enough for what ordinary worlds do.
HostMemory draw_memory(const InstanceConfig& config) {
  HostMemory memory;
  memory.shares.memtables = std::max(config.shard.unflushed_bytes_max * 4, kMemtableBytesMin);
  return memory;
}

SimDiskManners draw_disk(Random& random) {
  SimDiskManners disk;
  disk.present = random.chance(1, 3);
  disk.bytes_max = pick(random, kDiskBytes);
  for (uint64_t* const rate :
       {&disk.drop_permille, &disk.damage_permille, &disk.lose_permille, &disk.slow_permille}) {
    *rate = pick(random, kDiskRates);
  }
  disk.break_permille = random.chance(1, 4) ? 2 : 0;
  return disk;
}

OperatorHabits draw_operators(Random& random) {
  OperatorHabits operators;
  operators.count = pick(random, kOperators);
  operators.pause = milliseconds(pick(random, kOperatorPauseMs));
  operators.bits_max = pick(random, kOperatorBits);
  operators.two_at_once = static_cast<uint32_t>(random.below(4));
  return operators;
}

std::string ms(Duration duration) {
  return std::to_string(duration.count() / 1'000'000) + "ms";
}

}  // namespace

std::string describe(const Plan& plan) {
  const InstanceConfig& instance = plan.instance;
  std::string text = "instances=" + std::to_string(plan.instances);
  text += " clients=" + std::to_string(plan.clients);
  text += " streams=" + std::to_string(plan.streams);
  text += " mortal=" + std::to_string(plan.mortal_percent) + "%";
  text += " wall_error=" + std::to_string(plan.wall_error_max_ms) + "ms";
  text += " ghost_bits=" + std::to_string(plan.ghost_bits);
  text += plan.one_machine ? " one machine" : "";
  if (plan.operators.count > 0) {
    text += " operators=" + std::to_string(plan.operators.count) + " each " +
            ms(plan.operators.pause) + " to " + std::to_string(plan.operators.bits_max) + " bits";
  }
  text += " lease=" + ms(instance.lease.lease) + " heartbeat=" + ms(instance.lease.heartbeat);
  text += " watch=" + ms(instance.lease.watch_interval);
  text += " window=" + std::to_string(instance.log.window);
  text += " attempt=" + ms(instance.retry.attempt_timeout);
  text += " flush at " + std::to_string(instance.shard.unflushed_bytes_max) + " bytes";
  text += " trim=" + ms(instance.trim_interval);
  text += " store_speed=" + std::to_string(plan.store_speed);
  text += " loser_error=" + std::to_string(plan.manners.loser_error_percent);
  if (plan.disk.present) {
    text += " disk=" + std::to_string(plan.disk.bytes_max) +
            " damage=" + std::to_string(plan.disk.damage_permille);
  }
  for (size_t i = 0; i < kFaults; ++i) {
    if (plan.faults.at(i) == 0) continue;
    text.append(" ").append(kFaultNames[i]).append("=").append(std::to_string(plan.faults.at(i)));
  }
  return text;
}

Plan draw_plan(Random& random) {
  Plan plan;
  plan.instances = pick(random, kInstances);
  plan.clients = pick(random, kClients);
  plan.ghost_bits = pick(random, kGhostBits);
  plan.one_machine = random.chance(1, 4);
  plan.client_pause = milliseconds(pick(random, kClientPauseMs));
  plan.streams = pick(random, kStreams);
  plan.mortal_percent = pick(random, kMortalPercent);
  plan.wall_error_max_ms = pick(random, kWallErrorMs);
  plan.instance = draw_instance(random);
  plan.memory = draw_memory(plan.instance);
  plan.manners.page_keys_max = pick(random, kPageKeys);
  plan.manners.etag_is_content = random.chance(1, 2);
  plan.manners.loser_error_percent = pick(random, kLoserErrorPercent);
  plan.manners.abilities.ranges = !random.chance(1, 8);
  plan.manners.abilities.batch_remove = !random.chance(1, 8);
  plan.store_speed = random.below(3);
  // A far store and no cache: reads across many tables take longer than clients wait.
  if (plan.store_speed > 0) plan.instance.block_cache_bytes = kMiB;
  draw_faults(random, plan.faults);
  plan.disk = draw_disk(random);
  plan.operators = draw_operators(random);
  return plan;
}

}  // namespace morula::sim
