#include "sim/faults/latency.hpp"

#include <iterator>

#include "core/rt/random.hpp"

namespace morula::sim {

namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

// Quantiles in us, evenly spaced; a draw lies between two neighbours.
constexpr int64_t kDirectoryUs[] = {40, 60, 80, 100, 130, 180, 300, 900, 4000};
constexpr int64_t kNearUs[] = {2000, 4000, 5000, 6000, 7000, 9000, 12'000, 20'000, 60'000};
constexpr int64_t kFarUs[] = {8000,   15'000, 20'000, 25'000, 30'000,
                              40'000, 60'000, 90'000, 250'000};
constexpr int64_t kNetworkUs[] = {50, 80, 100, 120, 150, 200, 300, 600, 3000};
constexpr int64_t kTailMs[] = {200, 300, 500, 800, 1200, 2000, 4000, 8000, 20'000};
constexpr int64_t kStrayMs[] = {100, 400, 1000, 2000, 4000, 8000, 15'000, 30'000, 60'000};

template <size_t N>
int64_t draw(Random& random, const int64_t (&quantiles)[N]) {
  uint64_t interval = random.below(N - 1);
  auto low = static_cast<uint64_t>(quantiles[interval]);
  auto high = static_cast<uint64_t>(quantiles[interval + 1]);
  return static_cast<int64_t>(random.between(low, high));
}

/// Breaks ties between events, so that their order is the seed's, not the code's.
Duration spread(Random& random) {
  return Duration(random.below(1000));
}

}  // namespace

Duration draw_store_latency(Random& random, size_t speed) {
  const int64_t us = speed == 0   ? draw(random, kDirectoryUs)
                     : speed == 1 ? draw(random, kNearUs)
                                  : draw(random, kFarUs);
  return microseconds(us) + spread(random);
}

Duration draw_network_latency(Random& random) {
  const int64_t us = draw(random, kNetworkUs);
  return microseconds(us) + spread(random);
}

Duration draw_tail(Random& random) {
  return milliseconds(draw(random, kTailMs));
}

Duration draw_stray(Random& random) {
  return milliseconds(draw(random, kStrayMs));
}

}  // namespace morula::sim
