// Percent-encoding the way that signatures are computed over: all but A-Z a-z 0-9 - . _ ~.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.hpp"

namespace morula {

/// For a name or value of a query: `/` is encoded too.
std::string encode_query_part(std::string_view text);
/// For a path: `/` stays.
std::string encode_path(std::string_view text);

/// "a=1&delete=" of the parameters, encoded and sorted by name. A flag has an empty value.
std::string encode_query(std::vector<std::pair<std::string, std::string>> parameters);

/// The inverse, with `+` for a space, as listings have it. kCorrupt when a % is not followed by two
/// hex digits.
Result<std::string> decode_listed(std::string_view text);

}  // namespace morula
