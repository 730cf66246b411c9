#include "core/base/json_token.hpp"

namespace morula {

namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Removes leading digits; false when there are none.
bool skip_digits(std::string_view& text) {
  size_t n = 0;
  while (n < text.size() && is_digit(text[n])) ++n;
  text.remove_prefix(n);
  return n > 0;
}

bool skip(std::string_view& text, char c) {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

void append_utf8(std::string& out, uint32_t code) {
  const auto add = [&out](uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    add(code);
  } else if (code < 0x800) {
    add(0xc0 | code >> 6);
    add(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    add(0xe0 | code >> 12);
    add(0x80 | (code >> 6 & 0x3f));
    add(0x80 | (code & 0x3f));
  } else {
    add(0xf0 | code >> 18);
    add(0x80 | (code >> 12 & 0x3f));
    add(0x80 | (code >> 6 & 0x3f));
    add(0x80 | (code & 0x3f));
  }
}

/// Removes the four hex digits that follow `\u`; false when they don't.
bool skip_hex4(std::string_view& rest, uint32_t& unit) {
  if (rest.size() < 4) return false;
  unit = 0;
  for (const char c : rest.substr(0, 4)) {
    const char lower = static_cast<char>(c | 0x20);
    if (is_digit(c)) {
      unit = unit << 4 | static_cast<uint32_t>(c - '0');
    } else if (lower >= 'a' && lower <= 'f') {
      unit = unit << 4 | static_cast<uint32_t>(lower - 'a' + 10);
    } else {
      return false;
    }
  }
  rest.remove_prefix(4);
  return true;
}

/// Reads what follows `\u`, with the second half of a pair; returns the fault, or null.
const char* unescape_unicode(std::string_view& rest, std::string& out) {
  uint32_t code = 0;
  if (!skip_hex4(rest, code)) return "\\u without four hex digits";
  if (code >= 0xdc00 && code <= 0xdfff) return "the second half of a surrogate pair alone";
  if (code >= 0xd800 && code <= 0xdbff) {
    uint32_t low = 0;
    if (!skip(rest, '\\') || !skip(rest, 'u') || !skip_hex4(rest, low) || low < 0xdc00 ||
        low > 0xdfff) {
      return "the first half of a surrogate pair alone";
    }
    code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
  }
  append_utf8(out, code);
  return nullptr;
}

const char* unescape_next(std::string_view& rest, std::string& out) {
  if (rest.empty()) return "nothing after a backslash";
  const char c = rest.front();
  rest.remove_prefix(1);
  if (c == 'u') return unescape_unicode(rest, out);
  constexpr std::string_view kEscapes = "\"\\/bfnrt";
  constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
  const size_t escape = kEscapes.find(c);
  if (escape == std::string_view::npos) return "an unknown escape";
  out.push_back(kMeanings[escape]);
  return nullptr;
}

}  // namespace

size_t plain_json_length(std::string_view text) {
  size_t length = 0;
  while (length < text.size()) {
    const auto c = static_cast<unsigned char>(text[length]);
    if (c < 0x20 || c >= 0x80 || c == '"' || c == '\\') break;
    ++length;
  }
  return length;
}

bool is_json_number(std::string_view token) {
  skip(token, '-');
  if (!skip(token, '0') && !skip_digits(token)) return false;
  if (skip(token, '.') && !skip_digits(token)) return false;
  if (skip(token, 'e') || skip(token, 'E')) {
    if (!skip(token, '+')) skip(token, '-');
    if (!skip_digits(token)) return false;
  }
  return token.empty();
}

Result<std::string> unescape_json_string(std::string_view token) {
  if (token.size() < 2 || token.front() != '"' || token.back() != '"') {
    return fail(ErrorCode::kCorrupt, "a string without its quotes");
  }
  std::string_view rest = token.substr(1, token.size() - 2);
  std::string out;
  out.reserve(rest.size());
  const char* fault = nullptr;
  while (fault == nullptr && !rest.empty()) {
    const size_t plain = plain_json_length(rest);
    out += rest.substr(0, plain);
    rest.remove_prefix(plain);
    if (rest.empty()) break;
    const char c = rest.front();
    rest.remove_prefix(1);
    if (c == '\\') {
      fault = unescape_next(rest, out);
    } else if (c == '"') {
      fault = "something after a string";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      fault = "a control character in a string";
    } else {
      out.push_back(c);
    }
  }
  if (fault != nullptr) return fail(ErrorCode::kCorrupt, fault);
  return out;
}

}  // namespace morula
