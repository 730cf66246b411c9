#include <gtest/gtest.h>

#include "prod/metrics/metrics_page.hpp"
#include "prod/metrics/profile_words.hpp"
#include "prod/metrics/request_metrics.hpp"
#include "prod/metrics/store_metrics.hpp"

namespace morula {
namespace {

HttpRequest request(std::string method, std::string target) {
  HttpRequest made;
  made.method = std::move(method);
  made.target = std::move(target);
  return made;
}

StoreExchange exchange(StoreCall call, Purpose purpose, Duration took) {
  StoreExchange made;
  made.call = call;
  made.purpose = purpose;
  made.answered = made.sent + took;
  return made;
}

void pass(StoreMetrics& metrics, const StoreExchange& passed) {
  metrics.on_sent(passed);
  metrics.on_answered(passed);
}

std::string page_of(const MetricsPage::Collect& collect) {
  MetricsPage page;
  page.add(collect);
  return page.answer(request("GET", "/metrics")).body;
}

TEST(MetricsPage, IsAtItsPathOnly) {
  EXPECT_TRUE(MetricsPage::is_asked_for(request("GET", "/metrics")));
  EXPECT_TRUE(MetricsPage::is_asked_for(request("POST", "/metrics?a=b")));
  EXPECT_FALSE(MetricsPage::is_asked_for(request("GET", "/metrics/a")));
  EXPECT_FALSE(MetricsPage::is_asked_for(request("GET", "/v1/stream/metrics")));
}

TEST(MetricsPage, RefusesToBeChangedAndGivesHeadNoBody) {
  const MetricsPage page;
  EXPECT_EQ(page.answer(request("PUT", "/metrics")).status, 405);
  EXPECT_TRUE(page.answer(request("HEAD", "/metrics")).body.empty());
}

TEST(StoreMetrics, CountByPurposeAndCall) {
  StoreMetrics metrics;
  StoreExchange put = exchange(StoreCall::kPut, Purpose::kLog, std::chrono::microseconds(700));
  put.bytes_put = 5;
  pass(metrics, put);
  put.error = ErrorCode::kTimeout;
  pass(metrics, put);
  StoreExchange get = exchange(StoreCall::kGet, Purpose::kDataRead, std::chrono::seconds(20));
  get.bytes_got = 7;
  pass(metrics, get);
  metrics.on_sent(get);
  EXPECT_EQ(metrics.under_way(), 1u);
  const std::string page = page_of([&](MetricFamilies& families) { metrics.collect(families); });
  for (const char* line : {
           "morula_store_requests_total{purpose=\"log\",call=\"put\",outcome=\"ok\"} 1\n",
           "morula_store_requests_total{purpose=\"log\",call=\"put\",outcome=\"failed\"} 1\n",
           "morula_store_bytes_total{purpose=\"log\",direction=\"put\"} 10\n",
           "morula_store_bytes_total{purpose=\"data_read\",direction=\"get\"} 7\n",
           "morula_store_request_seconds_bucket{purpose=\"log\",call=\"put\",le=\"0.001\"} 2\n",
           "morula_store_request_seconds_bucket{purpose=\"data_read\",call=\"get\",le=\"10\"} 0\n",
           "morula_store_request_seconds_count{purpose=\"data_read\",call=\"get\"} 1\n",
           "morula_store_requests_under_way 1\n",
       }) {
    EXPECT_NE(page.find(line), std::string::npos) << line << "in\n" << page;
  }
  EXPECT_EQ(page.find("heartbeat"), std::string::npos) << "nothing was asked for that";
}

TEST(RequestMetrics, CountByMethodAndStatus) {
  RequestMetrics metrics;
  metrics.answered("POST", 204, std::chrono::milliseconds(3));
  metrics.answered("POST", 204, std::chrono::milliseconds(3));
  metrics.answered("BREW", 405, std::chrono::milliseconds(3));
  metrics.answered("MILK", 405, std::chrono::milliseconds(3));
  const std::string page = page_of([&](MetricFamilies& families) { metrics.collect(families); });
  EXPECT_NE(page.find("morula_http_requests_total{method=\"POST\",status=\"204\"} 2\n"),
            std::string::npos);
  EXPECT_NE(page.find("morula_http_requests_total{method=\"other\",status=\"405\"} 2\n"),
            std::string::npos);
  EXPECT_NE(page.find("morula_http_request_seconds_bucket{method=\"POST\",le=\"0.005\"} 2\n"),
            std::string::npos);
}

std::string words(uint64_t envelopes, uint64_t round_trips, uint64_t overlapped) {
  WriteProfile::Figures figures;
  figures.envelopes = envelopes;
  figures.round_trips = round_trips;
  figures.overlapped = overlapped;
  figures.total = std::chrono::milliseconds(round_trips * 2);
  figures.last_ended = figures.first_began + std::chrono::seconds(10);
  return in_words(figures, "appends", "log writes");
}

TEST(ProfileWords, SayWhetherBatchingCouldHelp) {
  EXPECT_EQ(words(0, 0, 0), "No log writes.\n");
  EXPECT_NE(words(100, 100, 0).find("could not help"), std::string::npos);
  EXPECT_NE(words(1000, 100, 5).find("Batching is at work: 10.0 appends share one"),
            std::string::npos);
  const std::string helped = words(100, 100, 50);
  EXPECT_NE(helped.find("Batching could help: 50 % of the log writes"), std::string::npos);
  EXPECT_NE(helped.find("2.0 appends in each instead of 1.0"), std::string::npos);
  EXPECT_NE(helped.find("100 appends in 100 log writes, within 10.0 s: 10 appends a second"),
            std::string::npos);
}

}  // namespace
}  // namespace morula
