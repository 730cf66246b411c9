#include "sim/sweep/worker_pool.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <map>
#include <vector>

#include "core/base/check.hpp"

namespace morula::sim {
namespace {

std::map<uint64_t, JobResult> run_seeds(size_t workers, uint64_t count) {
  std::map<uint64_t, JobResult> results;
  uint64_t next = 0;
  WorkerPool pool(
      {workers, std::chrono::seconds(100), [](const Job& job) { return run_job(job); }});
  pool.run(
      [&]() -> std::optional<Job> {
        if (next == count) return std::nullopt;
        Job job;
        job.scenario = "calm";
        job.seed = next++;
        return job;
      },
      [&](const JobResult& result) { results.emplace(result.job.seed, result); });
  return results;
}

TEST(WorkerPool, EverySeedIsRunOnceAndItsHashIsThatOfThisProcess) {
  auto results = run_seeds(2, 5);
  ASSERT_EQ(results.size(), 5u);
  for (const auto& [seed, result] : results) {
    EXPECT_EQ(result.hash, run_job(result.job).hash) << seed;
  }
}

/// Runs seed 0, which `run` makes end badly, and seed 1.
std::vector<JobResult> run_badly(std::chrono::seconds timeout, const WorkerPool::Run& run) {
  std::vector<JobResult> results;
  uint64_t next = 0;
  WorkerPool pool({1, timeout, run});
  pool.run(
      [&]() -> std::optional<Job> {
        if (next == 2) return std::nullopt;
        Job job;
        job.seed = next++;
        return job;
      },
      [&](const JobResult& result) { results.push_back(result); });
  return results;
}

JobResult held(const Job& job) {
  JobResult result;
  result.job = job;
  return result;
}

TEST(WorkerPool, ASeedThatRunsTooLongHasFailedAndTheNextOneRuns) {
  auto results = run_badly(std::chrono::seconds(1), [](const Job& job) {
    while (job.seed == 0) pause();
    return held(job);
  });
  ASSERT_EQ(results.size(), 2u);
  EXPECT_TRUE(results[0].failed());
  EXPECT_EQ(results[0].rule, "endless");
  EXPECT_FALSE(results[1].failed());
}

TEST(WorkerPool, AWorkerThatDiesIsAFailedSeedWithItsLastWords) {
  auto results = run_badly(std::chrono::seconds(100), [](const Job& job) {
    MORULA_CHECK(job.seed != 0, "the promised words");
    return held(job);
  });
  ASSERT_EQ(results.size(), 2u);
  EXPECT_TRUE(results[0].failed());
  EXPECT_EQ(results[0].rule, "crash");
  EXPECT_NE(results[0].detail.find("the promised words"), std::string::npos) << results[0].detail;
  EXPECT_FALSE(results[1].failed());
}

}  // namespace
}  // namespace morula::sim
