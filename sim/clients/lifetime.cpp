#include "sim/clients/lifetime.hpp"

#include <iterator>
#include <optional>

namespace morula::sim {

namespace {

constexpr uint64_t kTtlSeconds[] = {1, 1, 2, 3, 5};
constexpr int64_t kExpiryGridMs = 1000;  // so that clients that create at once mostly agree

/// The digit behind `mark`.
std::optional<uint64_t> seconds_behind(std::string_view path, std::string_view mark) {
  const size_t at = path.find(mark);
  if (at == std::string_view::npos) return std::nullopt;
  return static_cast<uint64_t>(path[at + mark.size()] - '0');
}

}  // namespace

std::string lifetime_folder(Random& random, uint32_t mortal_percent) {
  if (!random.chance(mortal_percent, 100)) return {};
  const std::string seconds = std::to_string(kTtlSeconds[random.below(std::size(kTtlSeconds))]);
  return (random.chance(1, 4) ? "at-" : "ttl-") + seconds + "/";
}

bool is_mortal(std::string_view path) {
  return seconds_behind(path, "/ttl-") || seconds_behind(path, "/at-");
}

void set_lifetime(std::string_view path, WallTime now, invariants::Request& create) {
  create.ttl_seconds = seconds_behind(path, "/ttl-");
  if (const auto seconds = seconds_behind(path, "/at-")) {
    const int64_t at = now.ms + static_cast<int64_t>(*seconds) * 1000;
    create.expires_at = WallTime{(at / kExpiryGridMs + 1) * kExpiryGridMs};
  }
}

}  // namespace morula::sim
