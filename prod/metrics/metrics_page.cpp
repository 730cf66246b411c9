#include "prod/metrics/metrics_page.hpp"

#include <prometheus/text_serializer.h>

#include <string_view>

#include "core/api/responses.hpp"

namespace morula {
namespace {

constexpr std::string_view kPath = "/metrics";

}  // namespace

bool MetricsPage::is_asked_for(const HttpRequest& request) {
  const std::string_view target = request.target;
  return target.starts_with(kPath) &&
         (target.size() == kPath.size() || target[kPath.size()] == '?');
}

HttpResponse MetricsPage::answer(const HttpRequest& request) const {
  HttpResponse response;
  if (request.method == "GET" || request.method == "HEAD") {
    MetricFamilies families;
    for (const Collect& collect : collectors_) collect(families);
    std::erase_if(families, [](const auto& family) { return family.metric.empty(); });
    response.headers.set("Content-Type", "text/plain; version=0.0.4; charset=utf-8");
    response.headers.set("Cache-Control", "no-store");
    response.body = prometheus::TextSerializer().Serialize(families);
  } else {
    response = method_not_allowed("GET, HEAD");
  }
  finish_response(request, response);
  return response;
}

}  // namespace morula
