#include "core/lsm/stream_filter.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace morula {
namespace {

RC_GTEST_PROP(StreamFilter, NeverDeniesAStreamThatWasAdded, ()) {
  const auto ids = *rc::gen::container<std::vector<std::pair<uint64_t, uint64_t>>>(
      rc::gen::pair(rc::gen::inRange<uint64_t>(0, 4), rc::gen::arbitrary<uint64_t>()));
  StreamFilterBuilder builder;
  for (const auto& [high, low] : ids) builder.add({high, low});
  const std::string filter = builder.finish();
  for (const auto& [high, low] : ids) {
    RC_ASSERT(stream_filter_may_contain(filter, {high, low}));
  }
}

TEST(StreamFilter, DeniesMostOthers) {
  // Ids that differ in few bits are as good as hashes.
  for (const uint64_t count : {1, 10, 1000, 100'000}) {
    StreamFilterBuilder builder;
    for (uint64_t n = 0; n < count; ++n) builder.add({n << 52, n});
    const std::string filter = builder.finish();
    EXPECT_LE(filter.size(), 1 + std::max<uint64_t>(8, count * 12 / 8 + 1));
    uint64_t maybe = 0;
    for (uint64_t n = 0; n < 100'000; ++n) {
      maybe += stream_filter_may_contain(filter, {n << 52, count + n}) ? 1 : 0;
    }
    EXPECT_LE(maybe, count < 1000 ? 1'300u : 450u) << count;
  }
}

TEST(StreamFilter, CountsARunOfOneStreamOnce) {
  StreamFilterBuilder builder;
  for (int n = 0; n < 10; ++n) builder.add({0, 0});
  for (int n = 0; n < 10; ++n) builder.add({0, 1});
  EXPECT_EQ(builder.streams(), 2u);
}

}  // namespace
}  // namespace morula
