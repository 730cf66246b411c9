#include "core/inspect/log_extent.hpp"

#include <algorithm>
#include <optional>

namespace morula {

LogExtent log_extent(std::span<const ListedLogObject> listed, LogSeq from, uint64_t window) {
  std::optional<LogSeq> highest_batch;
  std::optional<LogSeq> highest_fence;
  for (const ListedLogObject& object : listed) {
    (object.is_fence ? highest_fence : highest_batch) = object.seq;
  }
  LogExtent extent;
  LogSeq landed_below = from;  // all below it has landed for certain
  const LogSeq highest = listed.empty() ? from : listed.back().seq;
  if (highest_fence && highest < *highest_fence + window) {
    extent.fenced = true;
    landed_below = *highest_fence;
  } else if (highest_batch && highest_batch->value >= window) {
    landed_below = std::max(from, *highest_batch - window + 1);
  }
  LogSeq next = from;  // the lowest batch that was not seen yet
  const auto skip_to = [&](LogSeq seq) {
    for (; next < seq && next < landed_below; ++next) extent.holes.push_back(next);
  };
  LogSeq contiguous = from;
  for (const ListedLogObject& object : listed) {
    if (object.is_fence) continue;
    skip_to(object.seq);
    if (object.seq == contiguous) ++contiguous;
    next = std::max(next, object.seq + 1);
  }
  skip_to(landed_below);
  // A hole that should not be there ends nothing: what is beyond it was acknowledged, too.
  extent.end = extent.holes.empty() ? contiguous : landed_below;
  if (extent.fenced) extent.end = landed_below;
  return extent;
}

}  // namespace morula
