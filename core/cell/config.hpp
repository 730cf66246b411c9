// Everything about an instance that can be set, with its default and its reason.
#pragma once

#include <string>

#include "core/log/log_writer.hpp"
#include "core/store/conditional.hpp"
#include "core/stream/limits.hpp"

namespace morula {

struct LeaseConfig {
  Duration heartbeat = std::chrono::seconds(3);  // with other live members
  Duration lease = std::chrono::seconds(12);
  Duration heartbeat_alone = std::chrono::seconds(10);
  Duration lease_alone = std::chrono::seconds(30);
  uint64_t margin_permille = 50;  // of the lease: good for clock rates that differ by 10 %
  Duration watch_interval = std::chrono::seconds(1);  // how often a member looks at the others
};

struct ShardConfig {
  uint64_t unflushed_bytes_max = 16 * kMiB;  // flush here (MAX_UNFLUSHED_BYTES)
  uint64_t held_log_objects_max = 500;       // or when a shard holds back so many log objects
  uint64_t held_log_bytes_max = 64 * kMiB;   // or so many bytes
  uint64_t memtable_bytes_max = 64 * kMiB;   // beyond it appends wait for the flush
  uint64_t block_cache_bytes = 64 * kMiB;
};

struct InstanceConfig {
  std::string name;  // [a-z0-9-], 1 to 63; unique among the live instances of the cell
  LogConfig log;
  LeaseConfig lease;
  ShardConfig shard;
  StreamLimits stream;
  RetryConfig retry;
  Duration trim_interval = std::chrono::seconds(60);    // at most once in this time
  Duration forward_timeout = std::chrono::seconds(30);  // of a request sent on to the owner
};

}  // namespace morula
