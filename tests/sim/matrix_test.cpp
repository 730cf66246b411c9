// The crash matrix: its names, its points, and that it can fail.
#include "sim/matrix/matrix.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "sim/matrix/matrix_world.hpp"

namespace morula::sim {
namespace {

constexpr uint64_t kSeed = MatrixOptions{}.seed;

MatrixCase parsed(std::string_view name) {
  const auto which = MatrixCase::parse(name);
  EXPECT_TRUE(which) << name;
  return which.value_or(MatrixCase{});
}

JobResult result_of(std::string_view name, Mutant mutant = Mutant::none) {
  return run_matrix_job(parsed(name), kSeed, mutant);
}

TEST(Matrix, ACaseIsFoundByItsName) {
  for (const std::string name :
       {"split/crash/request:3/same", "flush/pause/switch:17/other", "trim/late/request:1/same",
        "move/meets_merge/request:2/unlanded", "takeover/meets_takeover/request:40/unanswered"}) {
    EXPECT_EQ(parsed(name).name(), name);
  }
}

TEST(Matrix, WhatIsNoCaseSaysWhy) {
  for (const std::string name :
       {"", "split", "split/crash/request:3", "split/crash/request:3/same/",
        "spilt/crash/request:3/same", "split/boom/request:3/same", "split/crash/request:/same",
        "split/crash/request:3x/same", "split/crash/point:3/same", "split/late/switch:3/same",
        "split/crash/request:3/unlanded", "split/meets_merge/request:3/same",
        "split/meets_marge/request:3/unlanded"}) {
    const auto which = MatrixCase::parse(name);
    ASSERT_FALSE(which) << name;
    EXPECT_EQ(which.error().code, ErrorCode::kInvalid) << name;
    EXPECT_FALSE(which.error().message.empty()) << name;
  }
}

TEST(Matrix, EveryOperationComesToItsEndWithoutFaultsAndHasPoints) {
  for (const std::string_view operation : kOperationNames) {
    for (const std::string ending : {"same", "other"}) {
      const MatrixReport report =
          run_matrix_case(parsed(std::string(operation) + "/crash/request:0/" + ending), kSeed);
      EXPECT_FALSE(report.seed.failure) << operation << ": " << report.seed.failure->detail;
      EXPECT_TRUE(report.ended) << operation;
      EXPECT_GE(report.requests, 2U) << operation;
      EXPECT_GE(report.switches, 2U) << operation;
    }
  }
}

TEST(Matrix, APointThatIsNeverReachedIsAFailure) {
  const JobResult result = result_of("split/crash/request:1000/same");
  EXPECT_TRUE(result.failed());
  EXPECT_EQ(result.rule, "point");
}

TEST(Matrix, ACaseIsTheSameWorldEachTime) {
  const JobResult first = result_of("move/pause/switch:20/same");
  EXPECT_FALSE(first.failed()) << first.detail;
  EXPECT_EQ(first.hash, result_of("move/pause/switch:20/same").hash);
  EXPECT_NE(first.hash, result_of("move/pause/switch:90/same").hash);
}

TEST(Matrix, TwoOperationsMeetWhileARequestIsHeldBack) {
  MatrixCase which = parsed("split/meets_takeover/request:1/unlanded");
  const uint32_t requests = [&] {
    MatrixCase counted = which;
    counted.point = 0;
    return run_matrix_case(counted, kSeed).requests;
  }();
  for (which.point = 1; which.point <= requests; ++which.point) {
    const MatrixReport report = run_matrix_case(which, kSeed);
    EXPECT_FALSE(report.seed.failure) << which.name() << ": " << report.seed.failure->detail;
    EXPECT_TRUE(report.met) << which.name();
  }
}

/// How many of the cases of one kind fail, of all requests that there are. Without a fault the
/// operation holds with the mutant, too.
uint32_t caught(const std::string& kind, const std::string& ending, Mutant mutant) {
  const auto name = [&](uint64_t point) {
    return kind + "/request:" + std::to_string(point) + "/" + ending;
  };
  const JobResult without = result_of(name(0), mutant);
  EXPECT_FALSE(without.failed()) << without.detail;
  uint32_t failed = 0;
  for (uint64_t point = 1; point <= without.steps.at("requests"); ++point) {
    failed += result_of(name(point), mutant).failed() ? 1 : 0;
  }
  return failed;
}

TEST(Matrix, AnUnknownOutcomeThatCountsAsFailedIsCaughtWhereAnAnswerIsLost) {
  EXPECT_EQ(caught("split/answer_lost", "same", Mutant::none), 0U);
  EXPECT_GE(caught("split/answer_lost", "same", Mutant::unknown_is_failure), 4U);
}

TEST(Matrix, ASwapOfWhateverIsThereIsCaughtWhereATakeoverComesInBetween) {
  EXPECT_GE(caught("split/meets_takeover", "unlanded", Mutant::topology_without_cas), 4U);
}

}  // namespace
}  // namespace morula::sim
