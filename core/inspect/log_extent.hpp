// How far a log reaches that nobody has closed, as a listing of it shows, and what of it is
// missing.
//
// A batch n is sent only once n-W has landed (OWNERSHIP R1). So with M the highest batch, all up to
// M-W have landed and must be there; a hole above that is a batch on its way, or one that was never
// acknowledged. A fence counts if it is the highest and nothing lies beyond f+W-1 (R3a): then it is
// the end, and all below it is there.
#pragma once

#include <span>
#include <vector>

#include "core/base/units.hpp"

namespace morula {

struct ListedLogObject {
  LogSeq seq;
  bool is_fence = false;
};

struct LogExtent {
  LogSeq end;                 // what can be replayed is [from, end)
  std::vector<LogSeq> holes;  // below the end of what has landed for certain, and not there
  bool fenced = false;        // a fence lies at `end`
};

/// Of the objects at and above `from`, ascending by seq.
LogExtent log_extent(std::span<const ListedLogObject> listed, LogSeq from, uint64_t window);

}  // namespace morula
