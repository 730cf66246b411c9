// The JSON grammar (RFC 8259) once more, as plainly as possible: what `Json::parse` is held
// against.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace morula {

inline bool is_utf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const auto first = static_cast<uint8_t>(text[i]);
    const size_t length = first < 0x80 ? 1 : first >> 5 == 6 ? 2 : first >> 4 == 14 ? 3 : 4;
    if (length == 4 && first >> 3 != 30) return false;
    if (i + length > text.size()) return false;
    uint32_t code = length == 1 ? first : first & (0x7f >> length);
    for (size_t j = 1; j < length; ++j) {
      const auto next = static_cast<uint8_t>(text[i + j]);
      if (next >> 6 != 2) return false;
      code = code << 6 | (next & 0x3f);
    }
    constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
    if (code < kLeast[length] || code > 0x10ffff || (code >> 11) == 0x1b) return false;
    i += length;
  }
  return true;
}

/// Recursive descent over one text.
class JsonGrammar {
 public:
  explicit JsonGrammar(std::string_view text) : rest_(text) {}

  bool whole() {
    if (!is_utf8(rest_)) return false;
    space();
    if (!value(1)) return false;
    space();
    return rest_.empty();
  }

 private:
  bool value(int depth) {
    if (rest_.starts_with('[')) return list('[', ']', depth, [&] { return value(depth + 1); });
    if (rest_.starts_with('{')) {
      return list('{', '}', depth, [&] {
        if (!string()) return false;
        space();
        if (!eat(":")) return false;
        space();
        return value(depth + 1);
      });
    }
    if (rest_.starts_with('"')) return string();
    return eat("true") || eat("false") || eat("null") || number();
  }

  template <class One>
  bool list(char open, char close, int depth, One one) {
    if (depth > 64 || !eat({&open, 1})) return false;
    space();
    if (eat({&close, 1})) return true;
    do {
      space();
      if (!one()) return false;
      space();
    } while (eat(","));
    return eat({&close, 1});
  }

  bool string() {
    if (!eat("\"")) return false;
    bool after_high = false;
    while (!eat("\"")) {
      if (rest_.empty() || static_cast<uint8_t>(rest_[0]) < 0x20) return false;
      if (!eat("\\")) {
        if (after_high) return false;
        rest_.remove_prefix(1);
      } else if (eat("u")) {
        const uint32_t unit = hex4();
        if (unit > 0xffff || after_high != (unit >> 10 == 0x37)) return false;
        after_high = unit >> 10 == 0x36;
      } else {
        if (after_high || rest_.empty()) return false;
        if (std::string_view("\"\\/bfnrt").find(rest_[0]) == std::string_view::npos) return false;
        rest_.remove_prefix(1);
      }
    }
    return !after_high;
  }

  /// Above 0xffff when there are no four hex digits.
  uint32_t hex4() {
    constexpr std::string_view kHex = "0123456789abcdefABCDEF";
    if (rest_.size() < 4) return 0x10000;
    uint32_t unit = 0;
    for (int i = 0; i < 4; ++i, rest_.remove_prefix(1)) {
      const size_t digit = kHex.find(rest_[0]);
      if (digit == std::string_view::npos) return 0x10000;
      unit = unit * 16 + static_cast<uint32_t>(digit < 16 ? digit : digit - 6);
    }
    return unit;
  }

  bool number() {
    eat("-");
    if (!eat("0") && !digits()) return false;
    if (eat(".") && !digits()) return false;
    if (eat("e") || eat("E")) {
      if (!eat("+")) eat("-");
      return digits();
    }
    return true;
  }

  bool digits() {
    const size_t before = rest_.size();
    while (!rest_.empty() && rest_[0] >= '0' && rest_[0] <= '9') rest_.remove_prefix(1);
    return rest_.size() < before;
  }

  void space() {
    while (eat(" ") || eat("\t") || eat("\n") || eat("\r")) {
    }
  }

  bool eat(std::string_view token) {
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }

  std::string_view rest_;
};

/// Valid JSON of at most 64 levels whose strings can be UTF-8.
inline bool is_json(std::string_view text) {
  return JsonGrammar(text).whole();
}

}  // namespace morula
