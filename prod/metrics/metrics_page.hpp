// GET /metrics: what this process counts, in the text format of Prometheus.
#pragma once

#include <functional>
#include <vector>

#include "core/rt/network.hpp"
#include "prod/metrics/metric_families.hpp"

namespace morula {

class MetricsPage {
 public:
  using Collect = std::function<void(MetricFamilies&)>;

  void add(Collect collect) { collectors_.push_back(std::move(collect)); }
  /// True for a request that `answer` is for.
  static bool is_asked_for(const HttpRequest& request);
  HttpResponse answer(const HttpRequest& request) const;

 private:
  std::vector<Collect> collectors_;
};

}  // namespace morula
