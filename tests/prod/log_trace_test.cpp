#include "prod/log_trace.hpp"

#include <gtest/gtest.h>

#include "core/base/json.hpp"

namespace morula {
namespace {

constexpr WallTime kWall{1'796'000'000'123};

TEST(LogTrace, LineOfLogfmtQuotesWhatNeedsIt) {
  EXPECT_EQ(format_log_line(
                LogFormat::kLogfmt, kWall, Severity::kInfo, "joined",
                {{"cell", "a-1"}, {"count", uint64_t{7}}, {"why", "a \"b\" = c\n"}, {"empty", ""}}),
            "time=2026-11-30T00:53:20.123Z level=info event=joined cell=a-1 count=7 "
            "why=\"a \\\"b\\\" = c\\n\" empty=\"\"");
}

TEST(LogTrace, LineOfJsonIsOneObject) {
  const std::string line =
      format_log_line(LogFormat::kJson, kWall, Severity::kError, "broken", {{"why", "a \"b\"\n"}});
  const auto json = Json::parse(line);
  ASSERT_TRUE(json) << line;
  EXPECT_EQ(*json->string_at("level"), "error");
  EXPECT_EQ(*json->string_at("event"), "broken");
  EXPECT_EQ(*json->string_at("why"), "a \"b\"\n");
  EXPECT_EQ(line.find('\n'), std::string::npos);
}

TEST(LogTrace, CountsSteps) {
  LogTrace trace(Severity::kError, LogFormat::kLogfmt);
  trace.step({Step::kFlush, "a"});
  trace.step({Step::kFlush, "a"});
  trace.step({Step::kTrim, "a"});
  EXPECT_EQ(trace.count(Step::kFlush), 2u);
  EXPECT_EQ(trace.count(Step::kTrim), 1u);
  EXPECT_EQ(trace.count(Step::kSeal), 0u);
}

}  // namespace
}  // namespace morula
