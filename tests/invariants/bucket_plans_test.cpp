#include "invariants/bucket_plans.hpp"

#include <gtest/gtest.h>

#include "core/base/mutant.hpp"
#include "core/topology/bucket_plan_document.hpp"
#include "core/topology/served_plan.hpp"
#include "tests/topology/topology_of.hpp"

namespace morula::invariants {
namespace {

std::string text_of(const Topology& topology, const std::vector<ShardMove>& moves = {}) {
  return encode_bucket_plan(plan_of(topology, {"b"}, moves));
}

TEST(BucketPlans, ThatOfTheTopologyIsRight) {
  for (const char* owner : {"a", "b", "z"}) {
    const Topology topology = topology_of({{"0", owner}, {"10", "a"}, {"11", "b"}});
    EXPECT_EQ(wrong_with_plan(topology, text_of(topology)), "");
  }
}

TEST(BucketPlans, AnyOtherIsFoundOut) {
  const Topology topology = topology_of({{"0", "a"}, {"1", "b"}});
  Topology other = topology;
  other.version = Version(10);
  EXPECT_NE(wrong_with_plan(topology, text_of(other)).find("version"), std::string::npos);
  other = topology_of({{"0", "a"}, {"10", "b"}, {"11", "a"}});
  EXPECT_NE(wrong_with_plan(topology, text_of(other)).find("bucket 3072"), std::string::npos);
  const std::string moving = text_of(topology, {{Prefix::parse("0").value(), "b"}});
  EXPECT_NE(wrong_with_plan(topology, moving).find("bucket 0 is not settled"), std::string::npos);
  EXPECT_NE(wrong_with_plan(topology, "{}").find("read"), std::string::npos);
}

TEST(BucketPlans, ARuleThatIsBrokenIsFoundOut) {
  for (const Mutant mutant : {Mutant::plan_moves_too_much, Mutant::plan_allows_dangling_member}) {
    for (const char* owner : {"a", "b"}) {
      const Topology topology = topology_of({{"0", owner}, {"1", "b"}});
      active_mutant = mutant;
      EXPECT_NE(wrong_with_plan(topology, text_of(topology)), "") << owner;
      active_mutant = Mutant::none;
    }
  }
}

}  // namespace
}  // namespace morula::invariants
