// A Network that counts what it serves, and answers GET /metrics itself.
#pragma once

#include <string>
#include <utility>

#include "core/rt/clock.hpp"
#include "core/rt/network.hpp"
#include "prod/metrics/metrics_page.hpp"
#include "prod/metrics/request_metrics.hpp"

namespace morula {

class MeteredNetwork final : public Network {
 public:
  /// All outlive it.
  MeteredNetwork(Network& within, Clock& clock, RequestMetrics& metrics, const MetricsPage& page)
      : within_(within), clock_(clock), metrics_(metrics), page_(page) {}

  std::string address() const override { return within_.address(); }
  Result<HttpResponse> call(const std::string& address, const HttpRequest& request,
                            Time deadline) override {
    return within_.call(address, request, deadline);
  }
  void serve(Scope& scope, Handler handler) override {
    within_.serve(scope, [this, handle = std::move(handler)](const HttpRequest& request) {
      if (MetricsPage::is_asked_for(request)) return page_.answer(request);
      const Time arrived = clock_.now();
      HttpResponse response = handle(request);
      metrics_.answered(request.method, response.status, clock_.now() - arrived);
      return response;
    });
  }
  void stop_serving() override { within_.stop_serving(); }

 private:
  Network& within_;
  Clock& clock_;
  RequestMetrics& metrics_;
  const MetricsPage& page_;
};

}  // namespace morula
