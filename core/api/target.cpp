#include "core/api/target.hpp"

#include <algorithm>

namespace morula {

namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

bool is_unreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

/// How many bytes the well-formed UTF-8 character at the front has; 0 when there is none.
size_t utf8_length(std::string_view text) {
  const auto byte = [&](size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
  };
  const auto follows = [&](size_t i) { return (byte(i) & 0xc0) == 0x80; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return follows(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    const bool shortest = first != 0xe0 || byte(1) >= 0xa0;
    const bool no_surrogate = first != 0xed || byte(1) < 0xa0;
    return shortest && no_surrogate && follows(1) && follows(2) ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    const bool shortest = first != 0xf0 || byte(1) >= 0x90;
    const bool in_range = first != 0xf4 || byte(1) < 0x90;
    return shortest && in_range && follows(1) && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

Result<> check_escapes(std::string_view text) {
  for (size_t at = text.find('%'); at != std::string_view::npos; at = text.find('%', at + 3)) {
    if (at + 2 >= text.size() || hex_digit(text[at + 1]) < 0 || hex_digit(text[at + 2]) < 0) {
      return fail(ErrorCode::kInvalid, "a % in a target is followed by two hex digits");
    }
  }
  return {};
}

bool has_dot_segment(std::string_view path) {
  for (;;) {
    const size_t slash = path.find('/');
    const std::string_view segment = path.substr(0, slash);
    if (segment == "." || segment == "..") return true;
    if (slash == std::string_view::npos) return false;
    path.remove_prefix(slash + 1);
  }
}

}  // namespace

bool is_printable_utf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    const auto first = static_cast<unsigned char>(text.front());
    if (length == 0 || first < 0x20 || first == 0x7f) return false;
    text.remove_prefix(length);
  }
  return true;
}

Result<std::string> percent_decode(std::string_view text) {
  MORULA_TRY(check_escapes(text));
  std::string decoded;
  decoded.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded.push_back(text[i]);
      continue;
    }
    decoded.push_back(static_cast<char>(hex_digit(text[i + 1]) << 4 | hex_digit(text[i + 2])));
    i += 2;
  }
  return decoded;
}

std::string percent_encode(std::string_view path) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : path) {
    if (is_unreserved(c) || c == '/') {
      encoded.push_back(c);
    } else {
      const auto byte = static_cast<unsigned char>(c);
      encoded.push_back('%');
      encoded.push_back(kDigits[byte >> 4]);
      encoded.push_back(kDigits[byte & 0xf]);
    }
  }
  return encoded;
}

Result<RequestTarget> RequestTarget::parse(std::string_view target) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!target.starts_with(scheme)) continue;
    target.remove_prefix(scheme.size());
    target.remove_prefix(std::min(target.find_first_of("/?"), target.size()));
    break;
  }
  const auto is_no_target_char = [](char c) {
    return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f || c == '#';
  };
  if (!target.starts_with('/') || std::any_of(target.begin(), target.end(), is_no_target_char)) {
    return fail(ErrorCode::kInvalid,
                "a request's target is a path that begins with /, without spaces, control "
                "characters and #");
  }
  MORULA_TRY(check_escapes(target));
  RequestTarget parsed;
  parsed.raw_ = target;
  return parsed;
}

Result<std::optional<std::string>> RequestTarget::parameter(std::string_view name) const {
  std::optional<std::string> found;
  std::string_view query = raw_.substr(std::min(raw_path().size() + 1, raw_.size()));
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(pair.size() + 1, query.size()));
    const std::string_view its_name = pair.substr(0, pair.find('='));
    const auto decoded_name = percent_decode(its_name);
    MORULA_TRY(decoded_name);
    if (*decoded_name != name) continue;
    if (found) {
      return fail(ErrorCode::kInvalid, "the parameter " + std::string(name) + " is there twice");
    }
    auto value = percent_decode(pair.substr(std::min(its_name.size() + 1, pair.size())));
    MORULA_TRY(value);
    found = *std::move(value);
  }
  return found;
}

Result<std::string> stream_path(std::string_view raw_path, uint64_t bytes_max) {
  auto path = percent_decode(raw_path.substr(kStreamPrefix.size()));
  MORULA_TRY(path);
  if (path->empty() || path->size() > bytes_max) {
    return fail(ErrorCode::kInvalid,
                "the path of a stream has 1 to " + std::to_string(bytes_max) + " bytes");
  }
  if (!is_printable_utf8(*path)) {
    return fail(ErrorCode::kInvalid, "the path of a stream is UTF-8 and has no control characters");
  }
  if (has_dot_segment(*path)) {
    return fail(ErrorCode::kInvalid, "the path of a stream has no segment . or ..");
  }
  return path;
}

}  // namespace morula
