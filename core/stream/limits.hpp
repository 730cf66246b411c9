// Bounds of stream operations, with their reasons.
#pragma once

#include <cstdint>

#include "core/base/units.hpp"

namespace morula {

struct StreamLimits {
  uint64_t append_bytes_max = 4 * kMiB;  // one append is one log entry; beyond it 413
  uint64_t read_bytes_max = kMiB;        // of one answer; the reader goes on at the next offset
  uint64_t path_bytes_max = 1024;        // of the decoded path: it is kept with the stream
  uint64_t producer_id_bytes_max = 256;  // part of a row's key
  uint64_t content_type_bytes_max = 256;
  uint64_t sequence_bytes_max = 256;     // of `Stream-Seq`: the last one is a row
  uint64_t cached_streams_max = 10'000;  // states of streams in memory, all shards together
  uint64_t cached_producers_max = 16;    // of one cached stream; another's row is read again
};

}  // namespace morula
