#include "prod/metrics/latency_histogram.hpp"

#include <algorithm>
#include <limits>

namespace morula {

void LatencyHistogram::observe(Duration took) {
  const double seconds = std::chrono::duration<double>(took).count();
  const auto bucket = std::lower_bound(kBounds.begin(), kBounds.end(), seconds) - kBounds.begin();
  ++buckets_[static_cast<size_t>(bucket)];
  ++count_;
  sum_ += took;
}

prometheus::ClientMetric::Histogram LatencyHistogram::to_metric() const {
  prometheus::ClientMetric::Histogram metric;
  metric.sample_count = count_;
  metric.sample_sum = std::chrono::duration<double>(sum_).count();
  uint64_t below = 0;
  for (size_t i = 0; i < buckets_.size(); ++i) {
    below += buckets_[i];
    const double bound = i < kBounds.size() ? kBounds[i] : std::numeric_limits<double>::infinity();
    metric.bucket.push_back({below, bound});
  }
  return metric;
}

}  // namespace morula
