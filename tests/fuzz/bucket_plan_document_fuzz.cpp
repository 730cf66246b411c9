#include "core/topology/bucket_plan_document.hpp"
#include "tests/fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace morula;
  fuzz::try_document<BucketPlan>(fuzz::text_of(data, size), decode_bucket_plan, encode_bucket_plan);
  return 0;
}
