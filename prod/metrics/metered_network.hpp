// A Network that counts what it serves, and answers GET /metrics itself.
#pragma once

#include "core/rt/clock.hpp"
#include "core/rt/wrapped_network.hpp"
#include "prod/metrics/metrics_page.hpp"
#include "prod/metrics/request_metrics.hpp"

namespace morula {

class MeteredNetwork final : public WrappedNetwork {
 public:
  /// All outlive it.
  MeteredNetwork(Network& within, Clock& clock, RequestMetrics& metrics, const MetricsPage& page)
      : WrappedNetwork(within), clock_(clock), metrics_(metrics), page_(page) {}

 private:
  HttpResponse answer(const Handler& handle, const HttpRequest& request) override {
    if (MetricsPage::is_asked_for(request)) return page_.answer(request);
    const Time arrived = clock_.now();
    HttpResponse response = handle(request);
    metrics_.answered(request.method, response.status, clock_.now() - arrived);
    return response;
  }

  Clock& clock_;
  RequestMetrics& metrics_;
  const MetricsPage& page_;
};

}  // namespace morula
