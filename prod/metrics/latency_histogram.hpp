// How long something took, in buckets that suit a disk as well as a far object store.
#pragma once

#include <prometheus/client_metric.h>

#include <array>
#include <cstdint>

#include "core/base/units.hpp"

namespace morula {

class LatencyHistogram {
 public:
  void observe(Duration took);
  uint64_t count() const { return count_; }
  prometheus::ClientMetric::Histogram to_metric() const;

 private:
  // Upper bounds, seconds; one more bucket for what is above.
  static constexpr std::array<double, 16> kBounds = {0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005,
                                                     0.01,   0.025,   0.05,   0.1,   0.25,   0.5,
                                                     1,      2.5,     5,      10};
  std::array<uint64_t, kBounds.size() + 1> buckets_{};
  uint64_t count_ = 0;
  Duration sum_{};
};

}  // namespace morula
