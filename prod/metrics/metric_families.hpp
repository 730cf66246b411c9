// What a page of metrics is put together from.
#pragma once

#include <prometheus/metric_family.h>

#include <string>
#include <utility>
#include <vector>

namespace morula {

using MetricFamilies = std::vector<prometheus::MetricFamily>;
using MetricLabels = std::vector<prometheus::ClientMetric::Label>;

inline prometheus::ClientMetric counter_metric(double value, MetricLabels labels = {}) {
  prometheus::ClientMetric metric;
  metric.label = std::move(labels);
  metric.counter.value = value;
  return metric;
}

inline prometheus::ClientMetric gauge_metric(double value, MetricLabels labels = {}) {
  prometheus::ClientMetric metric;
  metric.label = std::move(labels);
  metric.gauge.value = value;
  return metric;
}

inline prometheus::ClientMetric histogram_metric(prometheus::ClientMetric::Histogram histogram,
                                                 MetricLabels labels) {
  prometheus::ClientMetric metric;
  metric.label = std::move(labels);
  metric.histogram = std::move(histogram);
  return metric;
}

/// A family that metrics are still to be added to.
inline prometheus::MetricFamily family_of(prometheus::MetricType type, std::string name,
                                          std::string help) {
  return {std::move(name), std::move(help), type, {}};
}

/// A family of one metric without labels.
inline prometheus::MetricFamily counter_family(std::string name, std::string help, double value) {
  return {
      std::move(name), std::move(help), prometheus::MetricType::Counter, {counter_metric(value)}};
}

inline prometheus::MetricFamily gauge_family(std::string name, std::string help, double value) {
  return {std::move(name), std::move(help), prometheus::MetricType::Gauge, {gauge_metric(value)}};
}

}  // namespace morula
