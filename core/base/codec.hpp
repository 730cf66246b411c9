// Byte formats: little-endian fixed integers, LEB128 varints, length-prefixed strings, checksums.
//
// `Encoder` appends to a string. `Decoder` reads a view and never past its end: the first read that
// does not fit marks it failed, returns zeros from then on, and `finish()` tells. So a decoder of a
// format reads all its fields straight down and checks once. A number has one encoding: a varint
// with superfluous bytes fails.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace morula {

/// XXH3, 64 bits.
uint64_t checksum(std::string_view bytes);

class Encoder {
 public:
  explicit Encoder(std::string& out) : out_(out) {}

  void u8(uint8_t v) { out_.push_back(static_cast<char>(v)); }
  void u32(uint32_t v) { fixed(v); }
  void u64(uint64_t v) { fixed(v); }
  /// Big-endian, so that keys compare bytewise as the numbers do.
  void u64_ordered(uint64_t v) { fixed(__builtin_bswap64(v)); }
  void varint(uint64_t v);
  void raw(std::string_view bytes) { out_.append(bytes); }
  /// varint length, then the bytes.
  void string(std::string_view bytes);

 private:
  template <class T>
  void fixed(T v) {
    char bytes[sizeof(T)];
    for (char& byte : bytes) {
      byte = static_cast<char>(v & 0xff);
      v >>= 8;
    }
    out_.append(bytes, sizeof(T));
  }

  std::string& out_;
};

class Decoder {
 public:
  explicit Decoder(std::string_view in) : in_(in) {}

  uint8_t u8() { return fixed<uint8_t>(); }
  uint32_t u32() { return fixed<uint32_t>(); }
  uint64_t u64() { return fixed<uint64_t>(); }
  uint64_t u64_ordered() { return __builtin_bswap64(u64()); }
  uint64_t varint() {
    if (in_.empty() || static_cast<uint8_t>(in_.front()) >= 0x80) return long_varint();
    return fixed<uint8_t>();
  }
  /// A view into the input.
  std::string_view raw(size_t n) {
    if (n > in_.size()) {
      failed_ = true;
      in_ = {};
      return {};
    }
    const std::string_view bytes = in_.substr(0, n);
    in_.remove_prefix(n);
    return bytes;
  }
  std::string_view string() { return raw(varint()); }

  bool failed() const { return failed_; }
  bool at_end() const { return in_.empty(); }
  size_t remaining() const { return in_.size(); }
  /// Ok when every read fitted and nothing is left; kCorrupt naming `what` otherwise.
  Result<> finish(std::string_view what) const;

 private:
  template <class T>
  T fixed() {
    const std::string_view bytes = raw(sizeof(T));
    if (bytes.empty()) return 0;
    T v = 0;
    for (size_t i = 0; i < sizeof(T); ++i) {
      v |= static_cast<T>(static_cast<T>(static_cast<uint8_t>(bytes[i])) << (8 * i));
    }
    return v;
  }
  uint64_t long_varint();

  std::string_view in_;
  bool failed_ = false;
};

}  // namespace morula
