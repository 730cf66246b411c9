#include "prod/metrics/request_metrics.hpp"

#include <algorithm>
#include <iterator>
#include <string>

namespace morula {
namespace {

constexpr std::string_view kMethods[] = {"DELETE", "GET", "HEAD", "POST", "PUT"};

std::string_view known_method(std::string_view method) {
  const auto* const found = std::find(std::begin(kMethods), std::end(kMethods), method);
  return found == std::end(kMethods) ? "other" : *found;
}

}  // namespace

void RequestMetrics::answered(std::string_view method, int status, Duration took) {
  Answers& answers = methods_[known_method(method)];
  answers.took.observe(took);
  ++answers.statuses[status];
}

void RequestMetrics::collect(MetricFamilies& families) const {
  using prometheus::MetricType;
  auto requests = family_of(MetricType::Counter, "morula_http_requests_total",
                            "Requests that were answered, by method and status");
  auto seconds = family_of(MetricType::Histogram, "morula_http_request_seconds",
                           "From a request's last byte to the beginning of its answer");
  for (const auto& [method, answers] : methods_) {
    const std::string name(method);
    for (const auto& [status, number] : answers.statuses) {
      requests.metric.push_back(counter_metric(
          static_cast<double>(number), {{"method", name}, {"status", std::to_string(status)}}));
    }
    seconds.metric.push_back(histogram_metric(answers.took.to_metric(), {{"method", name}}));
  }
  families.push_back(std::move(requests));
  families.push_back(std::move(seconds));
}

}  // namespace morula
