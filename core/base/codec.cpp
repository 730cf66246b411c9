#include "core/base/codec.hpp"

#include <xxhash.h>

namespace morula {

uint64_t checksum(std::string_view bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

void Encoder::varint(uint64_t v) {
  char bytes[10];
  size_t count = 0;
  for (; v >= 0x80; v >>= 7) bytes[count++] = static_cast<char>(v | 0x80);
  bytes[count++] = static_cast<char>(v);
  out_.append(bytes, count);
}

void Encoder::string(std::string_view bytes) {
  varint(bytes.size());
  raw(bytes);
}

uint64_t Decoder::long_varint() {
  uint64_t v = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    const uint8_t byte = u8();
    if (failed_) return 0;
    // One number has one encoding: no bits beyond the 64th, no zeros on top.
    if ((shift == 63 && byte > 1) || (shift > 0 && byte == 0)) break;
    v |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return v;
  }
  failed_ = true;
  in_ = {};
  return 0;
}

Result<> Decoder::finish(std::string_view what) const {
  if (failed_) return fail(ErrorCode::kCorrupt, std::string(what) + ": cut short or malformed");
  if (!in_.empty()) {
    return fail(ErrorCode::kCorrupt,
                std::string(what) + ": " + std::to_string(in_.size()) + " bytes too many");
  }
  return {};
}

}  // namespace morula
