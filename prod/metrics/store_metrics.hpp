// What the cell asks of its store, by purpose: what a bucket's bill is made of.
#pragma once

#include <array>
#include <cstdint>

#include "core/rt/trace.hpp"
#include "core/store/observed_store.hpp"
#include "prod/metrics/latency_histogram.hpp"
#include "prod/metrics/metric_families.hpp"

namespace morula {

class StoreMetrics final : public StoreObserver {
 public:
  struct Count {
    LatencyHistogram took;   // of all that ended
    uint64_t failed = 0;     // of these; an absent key or a condition that fails is no failure
    uint64_t cancelled = 0;  // of these; not failed
    uint64_t bytes_put = 0;  // also of puts that failed
    uint64_t bytes_got = 0;
  };
  const Count& count(Purpose purpose, StoreCall call) const {
    return counts_[static_cast<size_t>(purpose)][static_cast<size_t>(call)];
  }
  /// Of all calls for one purpose.
  struct Sum {
    uint64_t requests = 0;
    uint64_t failed = 0;
    uint64_t bytes_put = 0;
    uint64_t bytes_got = 0;

    friend Sum operator-(const Sum& a, const Sum& b) {
      return {a.requests - b.requests, a.failed - b.failed, a.bytes_put - b.bytes_put,
              a.bytes_got - b.bytes_got};
    }
  };
  Sum sum(Purpose purpose) const;
  uint64_t under_way() const { return under_way_; }

  void on_sent(const StoreExchange& exchange) override;
  void on_answered(const StoreExchange& exchange) override;

  void collect(MetricFamilies& families) const;
  /// A line "store_requests" for each purpose that was asked for.
  void report(Trace& trace) const;

 private:
  std::array<std::array<Count, kStoreCalls>, kPurposes> counts_{};
  uint64_t under_way_ = 0;
};

}  // namespace morula
