// Scalars of JSON texts, checked to the letter. simdjson finds where the scalars of a text begin
// and end; it does not look at those that nobody converts.
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace morula {

/// How many bytes `text` begins with that stand for themselves within a string: ASCII, without
/// quotes, backslashes and control characters.
size_t plain_json_length(std::string_view text);

/// Whether `token` is a number of the JSON grammar: no leading zeros, no bare dot, no "NaN".
bool is_json_number(std::string_view token);

/// What the string token (with its quotes) stands for. kCorrupt with the reason: no quotes, a bare
/// quote or control character within, an unknown escape, half of a surrogate pair, which no UTF-8
/// can stand for. The caller knows that `token` is UTF-8.
Result<std::string> unescape_json_string(std::string_view token);

}  // namespace morula
