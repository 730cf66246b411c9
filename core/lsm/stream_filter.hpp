// Tells for most streams that a section has no row of theirs: a Bloom filter over StreamIds, 12
// bits and 8 probes each (0.3 % false positives).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/ids.hpp"

namespace morula {

class StreamFilterBuilder {
 public:
  /// Repeats of the last id are free.
  void add(StreamId id);
  uint64_t streams() const { return hashes_.size(); }
  /// The filter; the builder is empty afterwards.
  std::string finish();

 private:
  StreamId last_;
  std::vector<uint64_t> hashes_;
};

/// `filter` comes from where a checksum was right. False: certainly no row of this stream.
bool stream_filter_may_contain(std::string_view filter, StreamId id);

}  // namespace morula
