#include "core/cell/cell_document.hpp"
#include "tests/fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace morula;
  fuzz::try_document<CellDocument>(fuzz::text_of(data, size), decode_cell, encode_cell);
  return 0;
}
