#include "bench/load/latency_histogram.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <vector>

namespace morula::load {
namespace {

RC_GTEST_PROP(LatencyHistogram, PercentilesAreRightToOnePartIn64, ()) {
  auto values = *rc::gen::nonEmpty(rc::gen::container<std::vector<int64_t>>(rc::gen::map(
      rc::gen::pair(rc::gen::inRange(0, 62), rc::gen::inRange<int64_t>(0, int64_t{1} << 62)),
      [](const std::pair<int, int64_t>& drawn) { return drawn.second >> drawn.first; })));
  const int share = *rc::gen::inRange(1, 1001);
  LatencyHistogram histogram;
  for (const int64_t value : values) histogram.add(value);
  std::sort(values.begin(), values.end());
  const size_t rank = (values.size() * static_cast<size_t>(share) + 999) / 1000;
  const auto exact = static_cast<uint64_t>(values[rank - 1]);
  const uint64_t told = histogram.percentile(share / 1000.0);
  RC_ASSERT(told >= exact);
  RC_ASSERT(told - exact <= exact / 64);
  RC_ASSERT(histogram.largest() == static_cast<uint64_t>(values.back()));
  RC_ASSERT(histogram.count() == values.size());
}

TEST(LatencyHistogram, IsZeroWithoutValues) {
  const LatencyHistogram histogram;
  EXPECT_EQ(histogram.percentile(0.5), 0u);
  EXPECT_EQ(histogram.largest(), 0u);
}

}  // namespace
}  // namespace morula::load
