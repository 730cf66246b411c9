#include "core/log/log_object.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace morula {
namespace {

std::string encode(const LogObject& object) {
  if (object.is_fence) {
    return encode_fence(object.incarnation, object.seq, object.writer, object.nonce);
  }
  LogBatchBuilder batch(object.incarnation, object.seq, object.nonce);
  for (const LogRecord& record : object.records) batch.add(record.id, record.payload);
  return batch.finish(object.wall_floor);
}

}  // namespace
}  // namespace morula

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace morula;
  const std::string_view bytes = fuzz::text_of(data, size);
  (void)decode_log_object(bytes);
  const std::string sealed = fuzz::sealed_object(bytes);
  const auto object = decode_log_object(sealed);
  if (object) fuzz::expect(encode(*object) == sealed, "an object has one form");
  return 0;
}
