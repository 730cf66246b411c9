#include "sim/sweep/sweep.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "sim/sweep/job.hpp"

namespace morula::sim {
namespace {

class SweepTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "/sweep-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    options_.scenarios = {"calm"};
    options_.jsonl_file = folder_ + "/seeds.jsonl";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::multiset<uint64_t> seeds_run() {
    std::multiset<uint64_t> seeds;
    std::ifstream file(options_.jsonl_file);
    for (std::string line; std::getline(file, line);) {
      auto result = JobResult::decode(line);
      EXPECT_TRUE(result) << line;
      if (result) seeds.insert(result->job.seed);
    }
    return seeds;
  }

  std::string folder_;
  SweepOptions options_;
};

TEST_F(SweepTest, ShardsTogetherRunEachSeedOnce) {
  options_.first = 3;
  options_.last = 10;
  options_.share.of = 3;
  std::multiset<uint64_t> all;
  for (uint64_t shard = 0; shard < 3; ++shard) {
    options_.share.index = shard;
    EXPECT_EQ(run_sweep(options_), 0);
    for (uint64_t seed : seeds_run()) {
      EXPECT_EQ(seed % 3, shard);
      all.insert(seed);
    }
  }
  EXPECT_EQ(all, (std::multiset<uint64_t>{3, 4, 5, 6, 7, 8, 9}));
}

TEST_F(SweepTest, EachSeedRunsInEachScenario) {
  options_.scenarios = {"calm", "network_storm"};
  options_.last = 2;
  EXPECT_EQ(run_sweep(options_), 0);
  EXPECT_EQ(seeds_run(), (std::multiset<uint64_t>{0, 0, 1, 1}));
}

TEST_F(SweepTest, ASweepThatHasNotReachedARequiredPairHasFailed) {
  options_.last = 2;
  EXPECT_EQ(run_sweep(options_), 0);
  options_.require_pairs = true;
  EXPECT_EQ(run_sweep(options_), 1);
}

TEST_F(SweepTest, AFileThatCannotBeWrittenIsUsage) {
  options_.jsonl_file = folder_ + "/no/such/folder";
  EXPECT_EQ(run_sweep(options_), 2);
}

TEST_F(SweepTest, AFullDiskIsNoSuccess) {
  options_.last = 1;
  options_.jsonl_file = "/dev/full";
  EXPECT_EQ(run_sweep(options_), 2);
  options_.jsonl_file.clear();
  options_.junit_file = "/dev/full";
  EXPECT_EQ(run_sweep(options_), 2);
}

TEST_F(SweepTest, ARangeWithoutSeedsIsUsage) {
  options_.first = options_.last = 5;
  EXPECT_EQ(run_sweep(options_), 2);
}

TEST(Job, TheCommandRunsAgainWhatRanTwice) {
  EXPECT_TRUE(Job{.twice = true}.command().ends_with(" --twice"));
  EXPECT_FALSE(Job{}.command().ends_with(" --twice"));
}

TEST_F(SweepTest, JUnitCountsTheSeeds) {
  options_.last = 2;
  options_.junit_file = folder_ + "/junit.xml";
  EXPECT_EQ(run_sweep(options_), 0);
  std::ifstream file(options_.junit_file);
  std::string line;
  std::getline(file, line);
  EXPECT_NE(line.find("tests=\"2\" failures=\"0\""), std::string::npos) << line;
}

}  // namespace
}  // namespace morula::sim
