// Cursors of reads: the number of the current interval of 20 s, so that caches between us and many
// readers serve one answer for a while, but never the same one for good.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/base/units.hpp"

namespace morula {

class Random;

/// `Stream-Cursor` of an answer at `now` to a reader whose last cursor was `given` (as it arrived;
/// what is no cursor counts as none). Always above `given`: by 1 to 180 intervals drawn from
/// `random` where the clock is not.
std::string next_cursor(WallTime now, const std::optional<std::string>& given, Random& random);

}  // namespace morula
