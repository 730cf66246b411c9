#include "core/api/cursor.hpp"

#include <algorithm>

#include "core/rt/random.hpp"

namespace morula {

namespace {

constexpr int64_t kEpochMs = 1'728'432'000'000;  // 2024-10-09T00:00:00Z
constexpr int64_t kIntervalMs = 20'000;
constexpr uint64_t kJitterIntervals = 180;  // an hour
constexpr size_t kDigitsMax = 15;

std::optional<uint64_t> parse(std::string_view text) {
  if (text.empty() || text.size() > kDigitsMax) return std::nullopt;
  uint64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + static_cast<uint64_t>(c - '0');
  }
  return value;
}

}  // namespace

std::string next_cursor(WallTime now, const std::optional<std::string>& given, Random& random) {
  const auto current =
      static_cast<uint64_t>(std::max<int64_t>(0, (now.ms - kEpochMs) / kIntervalMs));
  const auto last = given ? parse(*given) : std::nullopt;
  if (!last || *last < current) return std::to_string(current);
  return std::to_string(*last + random.between(1, kJitterIntervals));
}

}  // namespace morula
