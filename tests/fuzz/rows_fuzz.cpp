// What a log record and a row of a stream hold.
#include "core/shard/record.hpp"
#include "core/stream/rows.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/lsm/changed_rows_of.hpp"

namespace morula {
namespace {

template <class T>
void try_value(std::string_view bytes, Result<T> (*decode)(std::string_view),
               void (*encode)(const T&, std::string&)) {
  const auto value = decode(bytes);
  if (!value) return;
  std::string again;
  encode(*value, again);
  fuzz::expect(again == bytes, "a value has one form");
}

}  // namespace
}  // namespace morula

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace morula;
  if (size == 0) return 0;
  const std::string_view bytes = fuzz::text_of(data, size).substr(1);
  const StreamId id{1, 2};
  switch (data[0] % 7) {
    case 0: {
      const auto rows = decode_record(id, bytes);
      if (!rows) break;
      std::string again;
      encode_record(id, changed_rows_of(*rows), again);
      fuzz::expect(again == bytes, "a record has one form");
      break;
    }
    case 1:
      try_value<HotRow>(bytes, decode_hot, encode_hot);
      break;
    case 2:
      try_value<DescriptorRow>(bytes, decode_descriptor, encode_descriptor);
      break;
    case 3:
      try_value<ProducerRow>(bytes, decode_producer, encode_producer);
      break;
    case 4:
      try_value<IndexRow>(bytes, decode_index, encode_index);
      break;
    case 5: {
      const auto key = row_key::parse(Tree::kIndex, bytes);
      if (!key) break;
      const std::string again = row_key::listing(key->tenant, key->path, key->generation, key->id);
      fuzz::expect(again == bytes, "a key has one form");
      break;
    }
    default:
      (void)decode_sequence(bytes);
      break;
  }
  return 0;
}
