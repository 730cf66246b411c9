// From one stream to another in the hash space, both included.
#pragma once

#include <cstdint>

#include "core/base/ids.hpp"

namespace morula {

struct StreamRange {
  StreamId first;
  StreamId last{UINT64_MAX, UINT64_MAX};

  bool contains(StreamId id) const { return first <= id && id <= last; }
  bool overlaps(const StreamRange& other) const {
    return first <= other.last && other.first <= last;
  }
  friend bool operator==(const StreamRange&, const StreamRange&) = default;
};

}  // namespace morula
