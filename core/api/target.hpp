// What a request is addressed to: the target of its request line, taken apart and checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace morula {

inline constexpr std::string_view kStreamPrefix = "/v1/stream/";
inline constexpr std::string_view kListPath = "/v1/streams";

/// Path and query of a target. Both forms that a server must take are: "/path?query" and
/// "http://host/path?query". A view: the text that was parsed outlives it.
class RequestTarget {
 public:
  /// kInvalid: neither form, a broken %-escape, or a space or control character.
  static Result<RequestTarget> parse(std::string_view target);

  /// Path and query as they arrived, not decoded.
  std::string_view raw() const { return raw_; }
  std::string_view raw_path() const { return raw_.substr(0, raw_.find('?')); }
  /// The decoded value of a query parameter; nullopt when it is absent. kInvalid when it is there
  /// twice. Unknown parameters are nobody's business.
  Result<std::optional<std::string>> parameter(std::string_view name) const;

 private:
  std::string_view raw_;
};

/// %-escapes decoded. kInvalid.
Result<std::string> percent_decode(std::string_view text);
/// Everything but unreserved characters and '/' escaped.
std::string percent_encode(std::string_view path);

/// UTF-8 without control characters.
bool is_printable_utf8(std::string_view text);

/// The path of a stream: what follows `kStreamPrefix`, decoded. kInvalid, saying what is allowed:
/// 1 to `bytes_max` bytes of UTF-8 without control characters, and no segment "." or "..".
Result<std::string> stream_path(std::string_view raw_path, uint64_t bytes_max);

}  // namespace morula
