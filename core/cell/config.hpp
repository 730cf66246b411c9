// Everything about an instance that can be set, with its default and its reason.
#pragma once

#include <string>

#include "core/fleet/lease_config.hpp"
#include "core/log/log_writer.hpp"
#include "core/lsm/second_tier.hpp"
#include "core/rt/network.hpp"
#include "core/shard/shard_config.hpp"
#include "core/store/conditional.hpp"
#include "core/stream/limits.hpp"
#include "core/stream/rows.hpp"

namespace morula {

struct InstanceConfig {
  std::string name;  // [a-z0-9-], 1 to 63; unique among the live instances of the cell
  LogConfig log;     // its window counts only where the cell is created; else cell.json's
  LeaseConfig lease;
  ShardConfig shard{.deadline_of = &deadline_of_hot_row, .listing_of = &listing_of_descriptor_row};
  StreamLimits stream;
  RetryConfig retry;
  uint64_t block_cache_bytes = 64 * kMiB;             // within the share of the memory budget
  SecondTier* second_tier = nullptr;                  // of the block cache; outlives the instance
  Duration trim_interval = std::chrono::seconds(60);  // at most once in this time
  Duration collect_interval = std::chrono::minutes(10);  // between rounds of garbage collection
  Duration forward_timeout = std::chrono::seconds(30);   // of a request sent on to the owner
  BodyBounds forward_body;                               // of an answer that passes through
  Duration stop_grace = std::chrono::seconds(10);  // for requests under way at a graceful stop
  uint8_t first_prefix_bits = 0;                   // a new cell begins with 2^bits shards
};

}  // namespace morula
