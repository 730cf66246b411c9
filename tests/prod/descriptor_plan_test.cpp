#include "prod/descriptor_plan.hpp"

#include <gtest/gtest.h>

namespace morula {
namespace {

TEST(DescriptorPlan, LeavesTheStoreItsOwnHoweverFewThereAre) {
  for (size_t descriptors = 16; descriptors < 50'000; descriptors += descriptors / 3) {
    HttpServerConfig http;
    const size_t bodies = plan_descriptors(http, descriptors);
    const size_t taken = http.connections_max + http.refused_max + bodies;
    EXPECT_LE(taken + std::min(kOtherDescriptors, descriptors / 2), descriptors);
    EXPECT_GE(http.connections_max, descriptors / 4 < 1000 ? descriptors / 4 : 1000u);
    EXPECT_GT(bodies, 0u) << descriptors;
  }
}

TEST(DescriptorPlan, TakesNothingFromWhoeverHasMany) {
  HttpServerConfig http;
  const HttpServerConfig asked;
  EXPECT_GT(plan_descriptors(http, 1 << 20), 100'000u);
  EXPECT_EQ(http.connections_max, asked.connections_max);
  EXPECT_EQ(http.refused_max, asked.refused_max);
}

}  // namespace
}  // namespace morula
