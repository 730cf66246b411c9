// What a whole world of crashes, zombies and late landings leaves in its bucket is sound to whoever
// looks into it: nothing that the protocol allows is taken for damage.
#include "core/inspect/survey.hpp"

#include <gtest/gtest.h>

#include "core/inspect/inspection_store.hpp"
#include "core/rt/clock.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/scenario/simulation.hpp"
#include "sim/world/test_world.hpp"

namespace morula::sim {
namespace {

using Strings = std::vector<std::string>;

/// Damages of a copy of the store's objects.
Strings damages_of(const SimStore& store) {
  TestWorld place;
  for (const auto& [key, object] : store.objects()) place.store().plant(key, *object.body);
  Strings found;
  place.run([&](const Env& env) {
    InspectionStore inspected(env.store, env.clock, std::chrono::seconds(30));
    const Env looking{env.domain, env.clock,   env.network,  inspected,
                      env.random, env.compute, env.platform, env.trace};
    const auto survey = survey_bucket(looking, {});
    if (!survey) return found.push_back(survey.error().message);
    for (const Damage& damage : survey->damages) found.push_back(damage.key + ": " + damage.what);
  });
  return found;
}

TEST(SurveyOfWorlds, TakesNothingForDamageThatAWorldLeaves) {
  constexpr uint64_t kSeeds = 8;
  for (const char* scenario : {"default", "network_storm"}) {
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      Simulation simulation(*find_scenario(scenario), seed);
      ASSERT_FALSE(simulation.run().failure) << scenario << " " << seed;
      EXPECT_EQ(damages_of(simulation.world().store()), Strings{}) << scenario << " " << seed;
    }
  }
}

}  // namespace
}  // namespace morula::sim
