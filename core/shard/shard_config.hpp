// When a shard flushes, and how much memory it takes.
#pragma once

#include <cstdint>

#include "core/base/units.hpp"
#include "core/lsm/compaction.hpp"
#include "core/lsm/expired_by.hpp"
#include "core/store/conditional.hpp"

namespace morula {

struct ShardConfig {
  uint64_t unflushed_bytes_max = 16 * kMiB;  // flush here,
  uint64_t held_log_objects_max = 500;       // or when the shard holds back so many log objects
  uint64_t held_log_bytes_max = 256 * kMiB;  // or so much of the log, whoever it is for;
                                             // no less than may be unflushed
  Duration room_patience = std::chrono::seconds(3);  // a write isn't held back for longer
  CompactionConfig compaction = {};
  ExpiredBy::DeadlineOf deadline_of = nullptr;  // of a hot row; null: no stream expires
  ExpiredBy::ListingOf listing_of = nullptr;    // of a descriptor row
  RetryConfig retry = {};
};

}  // namespace morula
