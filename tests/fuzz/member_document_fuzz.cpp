#include "core/fleet/member.hpp"
#include "tests/fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace morula;
  fuzz::try_document<Member>(fuzz::text_of(data, size), decode_member, encode_member);
  return 0;
}
