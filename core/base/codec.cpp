#include "core/base/codec.hpp"

#include <xxhash.h>

namespace morula {

namespace {

template <class T>
void append_little_endian(std::string& out, T v) {
  char bytes[sizeof(T)];
  for (char& byte : bytes) {
    byte = static_cast<char>(v & 0xff);
    v >>= 8;
  }
  out.append(bytes, sizeof(T));
}

template <class T>
T little_endian(std::string_view bytes) {
  T v = 0;
  for (size_t i = 0; i < sizeof(T); ++i) {
    v |= static_cast<T>(static_cast<uint8_t>(bytes[i])) << (8 * i);
  }
  return v;
}

}  // namespace

uint64_t checksum(std::string_view bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

void Encoder::u32(uint32_t v) {
  append_little_endian(out_, v);
}

void Encoder::u64(uint64_t v) {
  append_little_endian(out_, v);
}

void Encoder::u64_ordered(uint64_t v) {
  append_little_endian(out_, __builtin_bswap64(v));
}

void Encoder::varint(uint64_t v) {
  while (v >= 0x80) {
    u8(static_cast<uint8_t>(v | 0x80));
    v >>= 7;
  }
  u8(static_cast<uint8_t>(v));
}

void Encoder::string(std::string_view bytes) {
  varint(bytes.size());
  raw(bytes);
}

bool Decoder::take(size_t n, std::string_view& out) {
  if (failed_ || n > in_.size()) {
    failed_ = true;
    in_ = {};
    return false;
  }
  out = in_.substr(0, n);
  in_.remove_prefix(n);
  return true;
}

uint8_t Decoder::u8() {
  std::string_view bytes;
  return take(1, bytes) ? static_cast<uint8_t>(bytes[0]) : 0;
}

uint32_t Decoder::u32() {
  std::string_view bytes;
  return take(4, bytes) ? little_endian<uint32_t>(bytes) : 0;
}

uint64_t Decoder::u64() {
  std::string_view bytes;
  return take(8, bytes) ? little_endian<uint64_t>(bytes) : 0;
}

uint64_t Decoder::u64_ordered() {
  return __builtin_bswap64(u64());
}

uint64_t Decoder::varint() {
  uint64_t v = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    std::string_view bytes;
    if (!take(1, bytes)) return 0;
    const auto byte = static_cast<uint8_t>(bytes[0]);
    // One number has one encoding: no bits beyond the 64th, no zeros on top.
    if ((shift == 63 && byte > 1) || (shift > 0 && byte == 0)) break;
    v |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return v;
  }
  failed_ = true;
  in_ = {};
  return 0;
}

std::string_view Decoder::raw(size_t n) {
  std::string_view bytes;
  take(n, bytes);
  return bytes;
}

std::string_view Decoder::string() {
  return raw(varint());
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
