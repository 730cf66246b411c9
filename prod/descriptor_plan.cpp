#include "prod/descriptor_plan.hpp"

#include <algorithm>

namespace morula {

size_t plan_descriptors(HttpServerConfig& http, size_t descriptors) {
  const size_t sockets =
      descriptors / 2 > kOtherDescriptors ? descriptors - kOtherDescriptors : descriptors / 2;
  http.refused_max = std::min(http.refused_max, sockets / 8);
  const size_t served = sockets - http.refused_max;
  http.connections_max = std::min(http.connections_max, served - served / 4);
  return served - http.connections_max;
}

}  // namespace morula
