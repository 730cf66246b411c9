// The HTTP requests that this process has answered.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "prod/metrics/latency_histogram.hpp"
#include "prod/metrics/metric_families.hpp"

namespace morula {

class RequestMetrics {
 public:
  void answered(std::string_view method, int status, Duration took);
  void collect(MetricFamilies& families) const;

 private:
  struct Answers {
    LatencyHistogram took;
    std::map<int, uint64_t> statuses;
  };
  /// The methods that are served, and one for all others: a client can't make the page grow.
  std::map<std::string_view, Answers> methods_;
};

}  // namespace morula
