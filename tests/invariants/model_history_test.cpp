#include "tests/invariants/model_history.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace morula::invariants {
namespace {

constexpr int kSteps = 120;

RC_GTEST_PROP(ModelHistory, ALinearizableHistoryPasses, ()) {
  auto seed = *rc::gen::arbitrary<uint64_t>();
  Story story;
  ModelHistory(seed, Flaw::kNone).tell(story, kSteps);
  const Violations& found = story.finish();
  if (!found.empty()) RC_LOG() << to_string(found.kept().front());
  RC_ASSERT(found.empty());
}

/// Every history in which the flaw struck is found wrong, but for a few of those flaws that another
/// operation can excuse.
void expect_found(Flaw flaw, size_t missed_permille_max = 0) {
  size_t struck = 0;
  size_t missed = 0;
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    Story story;
    if (!ModelHistory(seed, flaw).tell(story, kSteps)) continue;
    ++struck;
    if (story.finish().empty()) ++missed;
  }
  EXPECT_GT(struck, 100u);
  EXPECT_LE(missed * 1000, struck * missed_permille_max) << missed << " of " << struck;
}

TEST(ModelHistory, ALostAppendIsFound) {
  expect_found(Flaw::kLosesAppend);
}
TEST(ModelHistory, AForgottenAppendIsFound) {
  expect_found(Flaw::kForgetsAppend);
}
TEST(ModelHistory, ADoubledAppendIsFound) {
  expect_found(Flaw::kDoublesAppend);
}
TEST(ModelHistory, SwappedAppendsAreFound) {
  expect_found(Flaw::kSwapsAppends);
}
TEST(ModelHistory, AStaleReadIsFound) {
  expect_found(Flaw::kReadsStale);
}
TEST(ModelHistory, AVanishedStreamIsFound) {
  expect_found(Flaw::kVanishes);
}
TEST(ModelHistory, AForgottenDeleteIsFound) {
  // A create without an answer may have made a generation for it to end.
  expect_found(Flaw::kForgetsDelete, 50);
}
TEST(ModelHistory, AReusedGenerationIsFound) {
  expect_found(Flaw::kReusesGeneration);
}

}  // namespace
}  // namespace morula::invariants
