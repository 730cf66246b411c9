// What the fuzzers share. Each defines LLVMFuzzerTestOneInput: whatever the bytes are, a decoder
// answers with an error, or with a value that stands for them; the sanitizers watch its reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/base/codec.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace morula::fuzz {

inline std::string_view text_of(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// A promise of the decoder: when it doesn't hold, the input is kept as a crash.
inline void expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "broken: %s\n", what);
  std::abort();
}

/// `body` with its checksum behind it, as binary objects end: most drawn changes would not get past
/// the checksum.
inline std::string sealed_object(std::string_view body) {
  std::string sealed(body);
  for (uint64_t sum = checksum(body), i = 0; i < 8; ++i, sum >>= 8) {
    sealed.push_back(static_cast<char>(sum & 255));
  }
  return sealed;
}

/// `members`, a JSON document without its end, with the checksum that documents end with.
inline std::string sealed_document(std::string_view members) {
  char end[48];
  std::snprintf(end, sizeof(end), ",\n  \"checksum\": \"%016llx\"\n}\n",
                static_cast<unsigned long long>(checksum(members)));
  return std::string(members) + end;
}

/// Decodes the bytes as they are, and as the members of a document with a right checksum. A value
/// that comes out is written and read again, and must be written as before.
template <class T>
void try_document(std::string_view bytes, Result<T> (*decode)(std::string_view),
                  std::string (*encode)(const T&)) {
  (void)decode(bytes);
  const auto decoded = decode(sealed_document(bytes));
  if (!decoded) return;
  const std::string written = encode(*decoded);
  const auto again = decode(written);
  expect(again.has_value(), "what a decoded document is written as is a document");
  expect(encode(*again) == written, "and means the same");
}

}  // namespace morula::fuzz
