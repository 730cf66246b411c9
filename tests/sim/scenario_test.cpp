#include "sim/scenario/scenario.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "sim/scenario/simulation.hpp"
#include "sim/sweep/job.hpp"

namespace morula::sim {
namespace {

constexpr uint64_t kSeeds = 12;

TEST(Scenarios, ASeedOfEachRunsTheSameTwice) {
  for (const Scenario& scenario : all_scenarios()) {
    Job job;
    job.scenario = scenario.name;
    job.seed = 5;
    job.twice = true;
    JobResult result = run_job(job);
    EXPECT_NE(result.rule, "determinism") << scenario.name << ": " << result.detail;
  }
}

TEST(Scenarios, NamesAndSentencesAreThereAndUnique) {
  std::set<std::string_view> names;
  for (const Scenario& scenario : all_scenarios()) {
    EXPECT_TRUE(names.insert(scenario.name).second) << scenario.name;
    EXPECT_FALSE(scenario.sentence.empty());
    EXPECT_EQ(find_scenario(scenario.name), &scenario);
  }
  EXPECT_EQ(find_scenario("no_such"), nullptr);
}

TEST(Scenarios, WhereAllIsCalmNothingFaultyHappensAndClientsAreServed) {
  for (uint64_t seed = 0; seed < 3; ++seed) {
    SeedReport report = Simulation(*find_scenario("calm"), seed).run();
    EXPECT_FALSE(report.failure) << report.failure->rule << ": " << report.failure->detail;
    for (size_t i = 0; i < kFaults; ++i) EXPECT_EQ(report.faults.at(i), 0u) << kFaultNames[i];
    EXPECT_GT(report.operations, 100u);
  }
}

TEST(Scenarios, EveryFaultHappensInAFewSeeds) {
  FaultNumbers happened;
  for (const Scenario& scenario : all_scenarios()) {
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      SeedReport report = Simulation(scenario, seed).run();
      for (size_t i = 0; i < kFaults; ++i) happened.at(i) += report.faults.at(i);
    }
    bool all = true;
    for (size_t i = 0; i < kFaults; ++i) all = all && happened.at(i) > 0;
    if (all) return;
  }
  for (size_t i = 0; i < kFaults; ++i) EXPECT_GT(happened.at(i), 0u) << kFaultNames[i];
}

TEST(Scenarios, ClocksBeyondTheBoundBreakReadsAndNothingElse) {
  constexpr uint64_t kSeedsMax = 400;
  for (uint64_t seed = 0; seed < kSeedsMax; ++seed) {
    SeedReport report = Simulation(*find_scenario("clock_beyond_bound"), seed).run();
    ASSERT_TRUE(report.held()) << seed << ": " << report.failure->detail;
    if (!report.failure) continue;
    EXPECT_EQ(report.failure->rule, "3");
    EXPECT_TRUE(report.failure_is_expected);
    return;
  }
  ADD_FAILURE() << "no seed of " << kSeedsMax << " shows a stale read";
}

TEST(Jobs, AResultIsTheSameAfterItWasALine) {
  Job job;
  job.scenario = "default";
  job.seed = 12'345'678'901'234'567'890ULL;
  job.mutant = Mutant::skip_fence;
  JobResult result;
  result.job = job;
  result.verdict = Verdict::kFailed;
  result.rule = "3";
  result.detail = "a \"quoted\" line\nand another";
  result.hash = 0xfedcba9876543210ULL;
  result.operations = 1500;
  result.faults["crash"] = 2;
  result.places["somewhere"] = true;
  result.places["elsewhere"] = false;
  auto again = JobResult::decode(result.encode());
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->encode(), result.encode());
  EXPECT_EQ(again->job.seed, job.seed);
  EXPECT_EQ(again->job.mutant, Mutant::skip_fence);
  EXPECT_EQ(again->hash, result.hash);
  EXPECT_EQ(again->detail, result.detail);
}

TEST(Jobs, EveryMutantHasANameThatFindsIt) {
  EXPECT_FALSE(all_mutants().empty());
  for (Mutant mutant : all_mutants()) EXPECT_EQ(find_mutant(mutant_name(mutant)), mutant);
  EXPECT_FALSE(find_mutant("no_such"));
}

}  // namespace
}  // namespace morula::sim
