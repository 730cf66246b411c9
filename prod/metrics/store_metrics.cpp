#include "prod/metrics/store_metrics.hpp"

#include <string>
#include <utility>

namespace morula {

void StoreMetrics::on_sent(const StoreExchange&) {
  ++under_way_;
}

void StoreMetrics::on_answered(const StoreExchange& exchange) {
  --under_way_;
  Count& count = counts_[static_cast<size_t>(exchange.purpose)][static_cast<size_t>(exchange.call)];
  count.took.observe(exchange.answered - exchange.sent);
  count.bytes_put += exchange.bytes_put;
  count.bytes_got += exchange.bytes_got;
  if (exchange.cancelled) {
    ++count.cancelled;
  } else if (!exchange.succeeded()) {
    ++count.failed;
  }
}

void StoreMetrics::collect(MetricFamilies& families) const {
  using prometheus::MetricType;
  auto requests = family_of(MetricType::Counter, "morula_store_requests_total",
                            "Requests to the store, by what they were for");
  auto bytes = family_of(MetricType::Counter, "morula_store_bytes_total",
                         "Bytes of objects that went to the store or came from it");
  auto seconds = family_of(MetricType::Histogram, "morula_store_request_seconds",
                           "From the send of a request to its answer");
  for (size_t p = 0; p < kPurposes; ++p) {
    const std::string purpose(to_string(static_cast<Purpose>(p)));
    uint64_t put = 0;
    uint64_t got = 0;
    for (size_t c = 0; c < kStoreCalls; ++c) {
      const Count& count = counts_[p][c];
      const uint64_t ended = count.took.count();
      if (ended == 0) continue;
      const MetricLabels labels = {{"purpose", purpose},
                                   {"call", std::string(to_string(static_cast<StoreCall>(c)))}};
      const std::pair<const char*, uint64_t> outcomes[] = {
          {"ok", ended - count.failed - count.cancelled},
          {"failed", count.failed},
          {"cancelled", count.cancelled}};
      for (const auto& [outcome, number] : outcomes) {
        MetricLabels of_outcome = labels;
        of_outcome.push_back({"outcome", outcome});
        requests.metric.push_back(
            counter_metric(static_cast<double>(number), std::move(of_outcome)));
      }
      seconds.metric.push_back(histogram_metric(count.took.to_metric(), labels));
      put += count.bytes_put;
      got += count.bytes_got;
    }
    if (put + got == 0) continue;
    bytes.metric.push_back(
        counter_metric(static_cast<double>(put), {{"purpose", purpose}, {"direction", "put"}}));
    bytes.metric.push_back(
        counter_metric(static_cast<double>(got), {{"purpose", purpose}, {"direction", "get"}}));
  }
  families.push_back(std::move(requests));
  families.push_back(std::move(bytes));
  families.push_back(std::move(seconds));
  families.push_back(gauge_family("morula_store_requests_under_way",
                                  "Requests to the store that are not answered yet",
                                  static_cast<double>(under_way_)));
}

StoreMetrics::Sum StoreMetrics::sum(Purpose purpose) const {
  Sum sum;
  for (const Count& count : counts_[static_cast<size_t>(purpose)]) {
    sum.requests += count.took.count();
    sum.failed += count.failed;
    sum.bytes_put += count.bytes_put;
    sum.bytes_got += count.bytes_got;
  }
  return sum;
}

void StoreMetrics::report(Trace& trace) const {
  for (size_t p = 0; p < kPurposes; ++p) {
    const auto purpose = static_cast<Purpose>(p);
    const Sum of = sum(purpose);
    if (of.requests == 0) continue;
    trace.log(Severity::kInfo, "store_requests",
              {{"purpose", to_string(purpose)},
               {"requests", of.requests},
               {"failed", of.failed},
               {"bytes_put", of.bytes_put},
               {"bytes_got", of.bytes_got}});
  }
}

}  // namespace morula
