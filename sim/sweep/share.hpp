// One of several independent jobs that do a large piece of work together, each its share.
#pragma once

#include <cstdint>

namespace morula::sim {

struct Share {
  uint64_t index = 0;  // below `of`
  uint64_t of = 1;

  bool takes(uint64_t number) const { return number % of == index; }
};

}  // namespace morula::sim
