// The rules of the log in drawn worlds (tests/log/log_world.hpp), and that they catch each mutant.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <optional>
#include <string>

#include "tests/log/log_world.hpp"

namespace morula::log_test {
namespace {

RC_GTEST_PROP(LogModel, TheRulesHoldInAnyWeather, ()) {
  const auto seed = *rc::gen::arbitrary<uint64_t>();
  const auto broken = LogWorld(seed).run();
  if (broken) RC_FAIL(*broken);
}

/// The first of `seeds` worlds in which a rule breaks, and which rule.
std::optional<std::string> caught(Mutant mutant, uint64_t seeds) {
  WithMutant with(mutant);
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    if (const auto broken = LogWorld(seed).run()) {
      return *broken + " in world " + std::to_string(seed);
    }
  }
  return std::nullopt;
}

TEST(LogModel, CatchesEachMutantOfTheLog) {
  struct Case {
    const char* name;
    Mutant mutant;
  };
  for (const Case& c : {
           Case{"none", Mutant::none},
           Case{"ack_out_of_order", Mutant::ack_out_of_order},
           Case{"window_by_count", Mutant::window_by_count},
           Case{"skip_fence", Mutant::skip_fence},
           Case{"fence_without_second_list", Mutant::fence_without_second_list},
           Case{"replay_one_short", Mutant::replay_one_short},
           Case{"trim_into_window", Mutant::trim_into_window},
           Case{"own_412_is_fence", Mutant::own_412_is_fence},
           Case{"other_412_is_success", Mutant::other_412_is_success},
           Case{"unknown_is_failure", Mutant::unknown_is_failure},
           Case{"stop_fence_too_early", Mutant::stop_fence_too_early},
       }) {
    const auto rule = caught(c.mutant, 300);
    EXPECT_EQ(rule.has_value(), c.mutant != Mutant::none) << c.name;
    RecordProperty(c.name, rule.value_or("survives"));
  }
}

TEST(LogModel, ItsWorldsReachEveryPlaceWorthReaching) {
  std::map<std::string, bool> reached;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    LogWorld world(seed);
    (void)world.run();
    for (const auto& [place, is_reached] : world.places()) reached[place] |= is_reached;
  }
  EXPECT_GE(reached.size(), 10u);
  for (const auto& [place, is_reached] : reached) EXPECT_TRUE(is_reached) << place;
}

}  // namespace
}  // namespace morula::log_test
