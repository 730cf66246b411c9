#include "invariants/spec/exploration.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "invariants/spec/expectation.hpp"

namespace morula::spec {
namespace {

const std::string kTla = std::string(MORULA_SOURCE_DIR) + "/tla/";

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<Expectation> expectations() {
  const auto all = parse_expectations(text_of(kTla + "expected.json"));
  EXPECT_TRUE(all) << all.error().message;
  return all.value_or(std::vector<Expectation>());
}

Result<Exploration> explored(const std::string& spec, const std::string& config,
                             const Limits& limits = {}) {
  const auto parsed = ModelConfig::parse(text_of(kTla + "cfg/" + config + ".cfg"));
  MORULA_TRY(parsed);
  return explore(spec, *parsed, limits);
}

// The others take a minute: `tla/check` has them.
TEST(Exploration, FindsWhatIsExpectedOfEachConfigurationThatIsNotLong) {
  for (const Expectation& expected : expectations()) {
    if (expected.is_long) continue;
    const auto found = explored(expected.spec, expected.config);
    ASSERT_TRUE(found) << expected.config << ": " << found.error().message;
    EXPECT_EQ(surprise(expected, *found), std::nullopt) << expected.config;
  }
}

TEST(Exploration, EveryConfigurationIsExpectedAndTheReverse) {
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(kTla + "cfg")) {
    files.insert(entry.path().stem().string());
  }
  std::set<std::string> expected;
  for (const Expectation& one : expectations()) expected.insert(one.config);
  EXPECT_EQ(files, expected);
}

TEST(Exploration, EveryRuleHasAVariantThatBreaksAndEverySpecIsNotVacuous) {
  std::set<std::string> broken;
  std::set<std::string> reached;
  std::set<std::string> hold;
  for (const Expectation& one : expectations()) {
    if (one.violates.starts_with("Never")) {
      reached.insert(one.spec);
    } else if (!one.violates.empty()) {
      broken.insert(one.rule);
    } else if (one.rule.empty()) {
      hold.insert(one.spec);
    }
  }
  EXPECT_EQ(broken, (std::set<std::string>{"R0", "R1", "R2", "R3", "R4", "R5", "R6", "R7", "R8",
                                           "R9", "Reads"}));
  const std::set<std::string> specs{"OwnershipLog", "Topology", "Lease"};
  EXPECT_EQ(reached, specs);
  EXPECT_EQ(hold, specs);
}

TEST(Exploration, TellsEachKindOfSurprise) {
  Expectation holds{.config = "ol_ok_N", .spec = "OwnershipLog", .distinct = 3981, .depth = 26};
  const auto found = explored(holds.spec, holds.config);
  ASSERT_TRUE(found);
  EXPECT_EQ(surprise(holds, *found), std::nullopt);
  holds.distinct = 3980;
  EXPECT_EQ(surprise(holds, *found), "3981 distinct states, not 3980");
  holds.distinct = 3981;
  holds.depth = 25;
  EXPECT_EQ(surprise(holds, *found), "depth 26, not 25");
  holds.violates = "D";
  EXPECT_EQ(surprise(holds, *found), "D is not violated");

  Expectation breaks{.config = "ol_m_noSeal", .spec = "OwnershipLog", .violates = "D", .trace = 16};
  const auto broken = explored(breaks.spec, breaks.config);
  ASSERT_TRUE(broken);
  EXPECT_EQ(surprise(breaks, *broken), std::nullopt);
  breaks.trace = 15;
  EXPECT_EQ(surprise(breaks, *broken), "the trace has 16 states, not 15");
  breaks.violates = "X";
  EXPECT_EQ(surprise(breaks, *broken), "D is violated after 16 states, not X");
  breaks.violates = "";
  EXPECT_EQ(surprise(breaks, *broken), "D is violated after 16 states");
}

TEST(Exploration, StopsAtItsLimitAndSaysThatItIsNotComplete) {
  Limits limits;
  limits.memory_bytes = uint64_t{20} << 20;
  const auto found = explored("OwnershipLog", "ol_ok_A", limits);
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->complete);
  const Expectation expected{.distinct = 162711, .depth = 39};
  EXPECT_EQ(surprise(expected, *found), "not all states were found within the memory allowed");
}

TEST(Exploration, RefusesConfigurationsOfAnotherSpecAndUnknownNames) {
  EXPECT_FALSE(explored("Topology", "ol_ok_A"));
  EXPECT_FALSE(explored("Nothing", "ol_ok_A"));
  std::string text = text_of(kTla + "cfg/ol_ok_A.cfg");
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    changed.replace(changed.find(from), from.size(), to);
    const auto config = ModelConfig::parse(changed);
    EXPECT_TRUE(config);
    return explore("OwnershipLog", *config, {});
  };
  EXPECT_EQ(with("Mut = {}", "Mut = {\"noSuch\"}").error().message, "Mut: \"noSuch\" is unknown");
  EXPECT_FALSE(with("INVARIANTS D", "INVARIANTS Nope D"));
  EXPECT_FALSE(with("Incs = {1,2,3}", "Incs = {2,3}"));
  EXPECT_FALSE(with("Own1 = 1", "Own1 = 7"));
}

TEST(Exploration, RefusesADamagedListOfExpectations) {
  EXPECT_FALSE(parse_expectations("{}"));
  EXPECT_FALSE(parse_expectations(R"({"configs": [{"config": "a", "spec": "Lease"}]})"));
  EXPECT_FALSE(
      parse_expectations(R"({"configs": [{"config": "a", "spec": "Lease", "violates": "R"}]})"));
  const std::string one = R"({"config": "a", "spec": "Lease", "distinct": 1, "depth": 1})";
  EXPECT_TRUE(parse_expectations(R"({"configs": [)" + one + "]}"));
  EXPECT_FALSE(parse_expectations(R"({"configs": [)" + one + "," + one + "]}"));
}

}  // namespace
}  // namespace morula::spec
