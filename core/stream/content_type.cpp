#include "core/stream/content_type.hpp"

#include <algorithm>
#include <array>

namespace morula {

namespace {

// A code is the place in this table plus one. The codes are in hot rows: append only.
constexpr std::array<const char*, 9> kCommon = {
    "application/octet-stream",  "application/json",         "text/plain",
    "text/plain; charset=utf-8", "text/plain;charset=utf-8", "application/x-ndjson",
    "application/ndjson",        "text/event-stream",        "application/x-protobuf",
};

constexpr std::array<bool, 256> token_chars() {
  std::array<bool, 256> is_one{};
  for (int c = 0; c < 256; ++c) {
    is_one[c] = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  }
  for (const char mark : std::string_view("!#$%&'*+-.^_`|~")) {
    is_one[static_cast<unsigned char>(mark)] = true;
  }
  return is_one;
}

bool is_token_char(char c) {
  static constexpr std::array<bool, 256> kTokenChars = token_chars();
  return kTokenChars[static_cast<unsigned char>(c)];
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool is_token(std::string_view text) {
  if (text.empty()) return false;
  for (const char c : text) {
    if (!is_token_char(c)) return false;
  }
  return true;
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

bool is_printable(std::string_view text) {
  for (const char c : text) {
    if (c < 0x20 || c > 0x7e) return false;
  }
  return true;
}

}  // namespace

Result<std::string_view> media_type(std::string_view text, uint64_t bytes_max) {
  if (text.size() > bytes_max) {
    return fail(ErrorCode::kInvalid,
                "the content type is longer than " + std::to_string(bytes_max) + " bytes");
  }
  const std::string_view media = trim(text.substr(0, text.find(';')));
  const size_t slash = media.find('/');
  if (slash == std::string_view::npos || !is_token(media.substr(0, slash)) ||
      !is_token(media.substr(slash + 1)) || !is_printable(text)) {
    return fail(ErrorCode::kInvalid, "a content type looks like text/plain or application/json");
  }
  return media;
}

bool same_media(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(),
                                            [](char x, char y) { return lower(x) == lower(y); });
}

uint8_t content_type_code(std::string_view text) {
  for (size_t i = 0; i < kCommon.size(); ++i) {
    if (text == kCommon[i]) return static_cast<uint8_t>(i + 1);
  }
  return 0;
}

const char* content_type_of(uint8_t code) {
  return code == 0 || code > kCommon.size() ? nullptr : kCommon[code - 1];
}

}  // namespace morula
