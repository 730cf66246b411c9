#include "core/topology/topology.hpp"
#include "tests/fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace morula;
  fuzz::try_document<Topology>(fuzz::text_of(data, size), decode_topology, encode_topology);
  return 0;
}
