// What an append of an idempotent producer is to its stream: new, a duplicate, or out of line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/stream/rows.hpp"

namespace morula {

enum class ProducerVerdict : uint8_t {
  kNew,
  kDuplicate,       // its seq was accepted before
  kStaleEpoch,      // a later epoch of this producer has written
  kEpochNotAtZero,  // a later epoch, which must begin at seq 0
  kSequenceGap,     // appends before it are missing; an unknown producer begins at seq 0
};

/// `known`: what the stream knows of this producer.
ProducerVerdict judge_producer(const std::optional<ProducerRow>& known, uint64_t epoch,
                               uint64_t seq);

/// The producers of one stream that wrote last, at most `max`.
class ProducerCache {
 public:
  /// Null when it is not known here; then a row may know it.
  const ProducerRow* find(std::string_view id);
  void put(std::string_view id, const ProducerRow& row, size_t max);

 private:
  std::vector<std::pair<std::string, ProducerRow>> entries_;  // the last used first
};

}  // namespace morula
