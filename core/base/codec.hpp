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
  void u32(uint32_t v);
  void u64(uint64_t v);
  /// Big-endian, so that keys compare bytewise as the numbers do.
  void u64_ordered(uint64_t v);
  void varint(uint64_t v);
  void raw(std::string_view bytes) { out_.append(bytes); }
  /// varint length, then the bytes.
  void string(std::string_view bytes);

 private:
  std::string& out_;
};

class Decoder {
 public:
  explicit Decoder(std::string_view in) : in_(in) {}

  uint8_t u8();
  uint32_t u32();
  uint64_t u64();
  uint64_t u64_ordered();
  uint64_t varint();
  /// A view into the input.
  std::string_view raw(size_t n);
  std::string_view string();

  bool failed() const { return failed_; }
  bool at_end() const { return in_.empty(); }
  size_t remaining() const { return in_.size(); }
  /// Ok when every read fitted and nothing is left; kCorrupt naming `what` otherwise.
  Result<> finish(std::string_view what) const;

 private:
  bool take(size_t n, std::string_view& out);

  std::string_view in_;
  bool failed_ = false;
};

}  // namespace morula
