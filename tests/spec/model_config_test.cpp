#include "invariants/spec/model_config.hpp"

#include <gtest/gtest.h>

namespace morula::spec {
namespace {

constexpr const char* kText = R"(CONSTANTS
 W = 2   \* the window
 Dup = TRUE
 Incs = {1,2, 3}
 Mut = {"noSeal","v_x"}
 None = {}
INIT Init
NEXT Next
INVARIANTS D X
CHECK_DEADLOCK FALSE
)";

TEST(ModelConfig, HoldsWhatTheFileSays) {
  const auto config = ModelConfig::parse(kText);
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->number("W"), 2);
  EXPECT_TRUE(config->boolean("Dup"));
  EXPECT_EQ(config->numbers("Incs"), (std::set<int>{1, 2, 3}));
  EXPECT_EQ(config->strings("Mut"), (std::set<std::string>{"noSeal", "v_x"}));
  EXPECT_TRUE(config->strings("None").empty());
  EXPECT_EQ(config->invariants(), (std::vector<std::string>{"D", "X"}));
}

TEST(ModelConfig, SaysWhichConstantIsMissingUnknownOrOfAnotherKind) {
  using Kind = ModelConfig::Kind;
  const auto config = ModelConfig::parse("CONSTANTS\n W = 2\n Mut = {}\nINVARIANTS D\n");
  ASSERT_TRUE(config);
  EXPECT_TRUE(config->has_exactly({{"W", Kind::kNumber}, {"Mut", Kind::kStrings}}));
  EXPECT_EQ(config->has_exactly({{"W", Kind::kNumber}}).error().message,
            "Mut is not a constant of the spec");
  EXPECT_EQ(config->has_exactly({{"W", Kind::kBoolean}, {"Mut", Kind::kStrings}}).error().message,
            "W is of another kind");
  EXPECT_EQ(config->has_exactly({{"V", Kind::kNumber}}).error().message, "V is not set");
}

TEST(ModelConfig, RefusesWhatItWouldHaveToLeaveOut) {
  for (const char* text :
       {"", "CONSTANTS\n W = 1\n", "INVARIANTS D\nSYMMETRY S\n", "INVARIANTS D\nCONSTRAINT C\n",
        "INVARIANTS D\nCHECK_DEADLOCK TRUE\n", "INVARIANTS D\nNEXT Other\n",
        "CONSTANTS\n W = \nINVARIANTS D\n", "CONSTANTS\n W = x\nINVARIANTS D\n",
        "CONSTANTS\n W 1\nINVARIANTS D\n", "CONSTANTS\n W = {1,\"a\"}\nINVARIANTS D\n",
        "CONSTANTS\n W = {1,2\nINVARIANTS D\n", "CONSTANTS\n W = {\"a\nINVARIANTS D\n",
        "CONSTANTS\n W = 1\n W = 2\nINVARIANTS D\n"}) {
    EXPECT_FALSE(ModelConfig::parse(text)) << text;
  }
}

}  // namespace
}  // namespace morula::spec
