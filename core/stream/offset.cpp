#include "core/stream/offset.hpp"

#include "core/base/check.hpp"

namespace morula {

namespace {

constexpr size_t kDigits = 16;
constexpr uint64_t kCountMax = 9'999'999'999'999'999;

void write_digits(char* out, uint64_t count) {
  MORULA_CHECK(count <= kCountMax);
  for (size_t i = kDigits; i-- > 0; count /= 10) out[i] = static_cast<char>('0' + count % 10);
}

bool read_digits(std::string_view text, uint64_t& count) {
  count = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return false;
    count = count * 10 + static_cast<uint64_t>(c - '0');
  }
  return true;
}

}  // namespace

OffsetText::OffsetText(Offset offset) {
  write_digits(text_.data(), offset.messages);
  text_[kDigits] = '_';
  write_digits(text_.data() + kDigits + 1, offset.bytes);
}

Result<Offset> parse_offset(std::string_view text) {
  Offset offset;
  if (text.size() != 2 * kDigits + 1 || text[kDigits] != '_' ||
      !read_digits(text.substr(0, kDigits), offset.messages) ||
      !read_digits(text.substr(kDigits + 1), offset.bytes)) {
    return fail(ErrorCode::kInvalid,
                "an offset is -1, now, or what a Stream-Next-Offset header of this stream said");
  }
  return offset;
}

}  // namespace morula
