#include "core/lsm/manifest.hpp"
#include "tests/fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace morula;
  fuzz::try_document<Manifest>(fuzz::text_of(data, size), decode_manifest, encode_manifest);
  return 0;
}
