// The steps have one name each: in core/base/step.hpp, in OWNERSHIP.md, in the specs, in their
// twins.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <span>
#include <string>

#include "core/base/step.hpp"
#include "invariants/spec/lease.hpp"
#include "invariants/spec/ownership_log.hpp"
#include "invariants/spec/topology.hpp"

namespace morula::spec {
namespace {

using Names = std::set<std::string>;

std::string text_of(const std::string& path) {
  std::ifstream file(std::string(MORULA_SOURCE_DIR) + "/" + path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

Names all_matches(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  Names names;
  for (std::sregex_iterator match(text.begin(), text.end(), regex), end; match != end; ++match) {
    names.insert(match->str(1));
  }
  return names;
}

Names names_of(std::span<const std::string_view> names) {
  return {names.begin(), names.end()};
}

/// What Next is made of.
Names actions_of(const std::string& spec) {
  const std::string text = text_of("tla/" + spec + ".tla");
  const size_t begin = text.find("\nNext ==");
  const std::string next = text.substr(begin + 8, text.find("\nSpec ==") - begin - 8);
  const Names defined = all_matches(text, R"(\n([A-Z]\w+)(?:\([^)\n]*\))? ==)");
  Names actions;
  for (const std::string& word : all_matches(next, R"(([A-Z]\w+))")) {
    if (defined.contains(word) && word != "Seqs") actions.insert(word);
  }
  return actions;
}

Names switches_of_spec(const std::string& spec) {
  return all_matches(text_of("tla/" + spec + ".tla"), R"rx(On\("(\w+)"\))rx");
}

Names steps_of_the_code() {
  Names steps;
#define MORULA_STEP_NAME(name, what) steps.insert(#name);
  MORULA_STEPS(MORULA_STEP_NAME)
#undef MORULA_STEP_NAME
  return steps;
}

Names steps_of_the_rules() {
  const std::string text = text_of("docs/OWNERSHIP.md");
  const size_t begin = text.find("## Names of the steps\n") + 22;
  return all_matches(text.substr(begin, text.find("\n## ", begin) - begin), "`(\\w+)`");
}

TEST(StepNames, ATwinHasTheActionsOfItsSpec) {
  EXPECT_EQ(names_of(OwnershipLog::actions()), actions_of("OwnershipLog"));
  EXPECT_EQ(names_of(Topology::actions()), actions_of("Topology"));
  EXPECT_EQ(names_of(Lease::actions()), actions_of("Lease"));
}

TEST(StepNames, ATwinHasTheSwitchesOfItsSpec) {
  EXPECT_EQ(names_of(OwnershipLog::switches()), switches_of_spec("OwnershipLog"));
  EXPECT_EQ(names_of(Topology::switches()), switches_of_spec("Topology"));
  EXPECT_EQ(names_of(Lease::switches()), switches_of_spec("Lease"));
}

TEST(StepNames, EveryStepOfTheCodeIsInTheRules) {
  const Names rules = steps_of_the_rules();
  for (const std::string& step : steps_of_the_code()) EXPECT_TRUE(rules.contains(step)) << step;
}

TEST(StepNames, EveryStepOfTheRulesIsAnActionOfASpec) {
  Names actions;
  for (const auto names : {OwnershipLog::actions(), Topology::actions(), Lease::actions()}) {
    actions.insert(names.begin(), names.end());
  }
  // A batch of the specs holds one record, so Append is a part of PutLog; and none of their
  // incarnations ever stops by itself.
  Names without{"Append", "Fenced"};
  for (const std::string& step : steps_of_the_rules()) {
    EXPECT_NE(actions.contains(step), without.contains(step)) << step;
  }
}

}  // namespace
}  // namespace morula::spec
