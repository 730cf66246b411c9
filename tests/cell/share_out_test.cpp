#include "core/cell/share_out.hpp"

#include <gtest/gtest.h>

#include "tests/topology/topology_of.hpp"

namespace morula {
namespace {

const IncarnationId kDead{"d", Ulid{1, 2}};  // as topology_of makes them

std::string shared(const Topology& topology, const std::set<std::string>& live) {
  std::string text;
  for (const auto& [prefix, name] : share_out(topology, kDead, live)) {
    text += prefix.text() + ":" + name + " ";
  }
  return text;
}

TEST(ShareOut, EachShardGoesToTheSurvivorThatHasFewest) {
  const Topology topology =
      topology_of({{"00", "d"}, {"01", "a"}, {"10", "d"}, {"110", "d"}, {"111", "d"}});
  EXPECT_EQ(shared(topology, {"a", "b", "c"}), "00:b 10:c 110:a 111:b ");
}

TEST(ShareOut, OneThatLivesAgainUnderItsNameGetsItsShardsBack) {
  const Topology topology = topology_of({{"0", "d"}, {"10", "a"}, {"11", "d"}});
  EXPECT_EQ(shared(topology, {"a", "d"}), "0:d 11:d ");
}

TEST(ShareOut, TheLastSurvivorGetsAll) {
  EXPECT_EQ(shared(topology_of({{"0", "d"}, {"1", "d"}}), {"a"}), "0:a 1:a ");
  EXPECT_EQ(shared(topology_of({{"0", "d"}, {"1", "d"}}), {}), "");
}

}  // namespace
}  // namespace morula
