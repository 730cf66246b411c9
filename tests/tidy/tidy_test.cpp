// Every rule holds for the project, and finds what breaks it in the fixture.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>

#include "tests/tidy/rules.hpp"

namespace morula::tidy {
namespace {

const std::string kRoot = MORULA_SOURCE_DIR;

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file.good()) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

const SourceTree& project() {
  static const SourceTree kTree = read_tree(kRoot);
  return kTree;
}

void expect_none(const Findings& findings) {
  for (const Finding& finding : findings) ADD_FAILURE() << finding.text();
}

TEST(Tidy, FilesAreShort) {
  expect_none(files_are_short(project()));
}
TEST(Tidy, FunctionsFitAScreen) {
  expect_none(functions_fit_a_screen(project()));
}
TEST(Tidy, LinesFit) {
  expect_none(lines_fit(project()));
}
TEST(Tidy, NothingIsLeftToDo) {
  expect_none(nothing_is_left_to_do(project()));
}
TEST(Tidy, NamesSaySomething) {
  expect_none(names_say_something(project()));
}
TEST(Tidy, HeadersGuardThemselves) {
  expect_none(headers_guard_themselves(project()));
}
TEST(Tidy, CoreIncludesOnlyWhatIsAllowed) {
  expect_none(core_includes_only_what_is_allowed(project()));
}
TEST(Tidy, RoomsIncludeDownwards) {
  expect_none(rooms_include_downwards(project()));
}
TEST(Tidy, HeavyHeadersStayOutOfHeaders) {
  expect_none(heavy_headers_stay_out_of_headers(project()));
}
TEST(Tidy, CoreIsDeterministic) {
  expect_none(core_is_deterministic(project()));
}
TEST(Tidy, StepsAreTaken) {
  expect_none(steps_are_taken(project()));
}
TEST(Tidy, MutantsAreUsed) {
  expect_none(mutants_are_used(project()));
}
TEST(Tidy, NoHeaderIsDead) {
  expect_none(no_header_is_dead(project()));
}
TEST(Tidy, EverySourceIsBuilt) {
  const std::string commands = text_of(std::string(MORULA_BUILD_DIR) + "/compile_commands.json");
  expect_none(every_source_is_built(project(), commands));
}
TEST(Tidy, HeadersStandAlone) {
  expect_none(headers_stand_alone(project(), MORULA_COMPILER));
}

TEST(Tidy, SeesTheWholeProject) {
  std::set<std::string_view> tops;
  for (const SourceFile& file : project().files) tops.insert(file.top());
  for (const char* top : {"", "core", "tests", "scripts", ".ci"})
    EXPECT_TRUE(tops.contains(top)) << top;
  EXPECT_GT(project().files.size(), 100u);
}

std::string repeat(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

TEST(Tidy, FindsFilesThatAreTooLong) {
  SourceTree tree;
  tree.files = {make_file("core/a.cpp", repeat("//\n", 600)),
                make_file("core/b.cpp", repeat("//\n", 601))};
  const Findings findings = files_are_short(tree);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].path, "core/b.cpp");
}

TEST(Tidy, FindsFunctionsThatAreTooLong) {
  const auto function = [](const std::string& head, int lines) {
    return head + " {\n  if (a) {\n" + repeat("    b('{', \"}\");  // }\n", lines - 4) + "  }\n}\n";
  };
  const std::string around = "namespace x {\nstruct S {\n";
  SourceTree tree;
  tree.files = {make_file("core/a.cpp", around + function("  void fits(int a)", 80) + "int i;\n" +
                                            function("  void f(\n      int a)", 80) + "};\n}\n")};
  const Findings findings = functions_fit_a_screen(tree);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].text(),
            "core/a.cpp:84: function-length: 81 lines; it must fit a screen of 80");
}

TEST(Tidy, LooksPastCommentsAndLiterals) {
  SourceTree tree;
  tree.files = {
      make_file("core/a.cpp",
                "// std::mutex\n/* std::mutex\n */ const char* a = \"std::mutex\";\n"
                "const char* b = R\"x(std::mutex)\" )x\"; int c = 1'000; char d = '\\'';\n"
                "std::mutex e;\n")};
  const Findings findings = core_is_deterministic(tree);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].line, 5u);
}

/// expected.findings has one line for each violation in the fixture, and nothing else.
TEST(Tidy, FindsEachViolationOfTheFixture) {
  const SourceTree fixture = read_tree(kRoot + "/tests/tidy/fixture");
  std::multiset<std::string> found;
  const auto add = [&found](const Findings& findings) {
    for (const Finding& finding : findings) found.insert(finding.text());
  };
  for (auto* rule :
       {files_are_short, functions_fit_a_screen, lines_fit, nothing_is_left_to_do,
        names_say_something, headers_guard_themselves, core_includes_only_what_is_allowed,
        rooms_include_downwards, heavy_headers_stay_out_of_headers, core_is_deterministic,
        steps_are_taken, mutants_are_used, no_header_is_dead}) {
    add(rule(fixture));
  }
  add(every_source_is_built(fixture, text_of(kRoot + "/tests/tidy/fixture/compile_commands.json")));
  for (Finding& finding : headers_stand_alone(fixture, MORULA_COMPILER)) {
    finding.message = "...";  // the compiler's words
    add({finding});
  }

  std::multiset<std::string> expected;
  std::ifstream file(kRoot + "/tests/tidy/fixture/expected.findings");
  for (std::string line; std::getline(file, line);) expected.insert(line);
  EXPECT_GT(expected.size(), 15u);
  for (const std::string& line : expected) {
    EXPECT_TRUE(found.contains(line)) << "not found: " << line;
  }
  for (const std::string& line : found) {
    EXPECT_TRUE(expected.contains(line)) << "not expected: " << line;
  }
}

}  // namespace
}  // namespace morula::tidy
