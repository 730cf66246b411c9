#include "core/base/result.hpp"

#include <gtest/gtest.h>

#include <set>

#include "core/base/check.hpp"
#include "core/base/step.hpp"

namespace morula {
namespace {

TEST(ErrorCode, EveryCodeHasItsOwnName) {
  std::set<std::string_view> names;
  for (int code = 0; code <= static_cast<int>(ErrorCode::kBusy); ++code) {
    names.insert(to_string(static_cast<ErrorCode>(code)));
  }
  EXPECT_EQ(names.size(), static_cast<size_t>(ErrorCode::kBusy) + 1);
  EXPECT_EQ(to_string(ErrorCode::kPreconditionFailed), "precondition_failed");
}

TEST(ErrorCode, OnlyRequestsThatMayHaveBeenCarriedOutAreUnknown) {
  EXPECT_TRUE(outcome_unknown(ErrorCode::kTimeout));
  EXPECT_TRUE(outcome_unknown(ErrorCode::kUnavailable));
  EXPECT_FALSE(outcome_unknown(ErrorCode::kPreconditionFailed));
  EXPECT_FALSE(outcome_unknown(ErrorCode::kThrottled));
}

Result<int> twice(const Result<int>& in) {
  MORULA_TRY(in);
  return *in * 2;
}

TEST(Try, PassesValuesOnAndReturnsErrors) {
  EXPECT_EQ(twice(21), 42);
  EXPECT_EQ(twice(fail(ErrorCode::kBusy, "full")), fail(ErrorCode::kBusy, "full"));
}

TEST(Step, HasTheNameOfTheSpecs) {
  EXPECT_EQ(to_string(Step::kPutLog), "PutLog");
  EXPECT_EQ(to_string(Step::kLoseLease), "LoseLease");
}

TEST(CheckDeathTest, SaysWhatFailedAndWhy) {
  EXPECT_DEATH(MORULA_CHECK(1 + 1 == 3, "arithmetic"),
               "result_test.cpp:[0-9]+: check failed: 1 \\+ 1 == 3: arithmetic");
  EXPECT_DEATH(MORULA_CHECK(false), "check failed: false\n");
  MORULA_CHECK(true);
}

}  // namespace
}  // namespace morula
