#include "core/api/target.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace morula {
namespace {

std::string path_of(const std::string& raw) {
  const auto path = stream_path(std::string(kStreamPrefix) + raw, 1024);
  return path ? *path : "refused";
}

TEST(Target, TakesPathAndQueryApart) {
  const auto target = RequestTarget::parse("/a%20b?x=1&y=%41%26&empty=&bare&z=a=b&");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->raw_path(), "/a%20b");
  EXPECT_EQ(*target->parameter("x"), "1");
  EXPECT_EQ(*target->parameter("y"), "A&");
  EXPECT_EQ(*target->parameter("empty"), "");
  EXPECT_EQ(*target->parameter("bare"), "");
  EXPECT_EQ(*target->parameter("z"), "a=b");
  EXPECT_EQ(*target->parameter("other"), std::nullopt);
}

TEST(Target, APlusIsAPlus) {
  EXPECT_EQ(*RequestTarget::parse("/?a=1+2")->parameter("a"), "1+2");
}

TEST(Target, TakesAUrlToo) {
  EXPECT_EQ(RequestTarget::parse("http://host:1/a?b=c")->raw_path(), "/a");
  EXPECT_EQ(*RequestTarget::parse("https://host/a?b=c")->parameter("b"), "c");
  EXPECT_FALSE(RequestTarget::parse("http://host"));
  EXPECT_FALSE(RequestTarget::parse("http://host?a=b"));
  EXPECT_FALSE(RequestTarget::parse("ftp://host/a"));
  EXPECT_FALSE(RequestTarget::parse(""));
}

TEST(Target, ASecondValueIsOneTooMany) {
  EXPECT_FALSE(RequestTarget::parse("/?a=1&a=1")->parameter("a"));
  EXPECT_FALSE(RequestTarget::parse("/?a=1&%61=1")->parameter("a"));
}

TEST(StreamPath, IsUtf8WithoutControlCharactersAndDotSegments) {
  EXPECT_EQ(path_of("a/b"), "a/b");
  EXPECT_EQ(path_of("%e2%82%ac/%F0%9F%98%80"), "€/😀");
  EXPECT_EQ(path_of("a//b/"), "a//b/");
  EXPECT_EQ(path_of("...") + path_of(".a") + path_of("a."), "....aa.");
  for (const char* raw : {"",
                          ".",
                          "..",
                          "a/..",
                          "../a",
                          "a/./b",
                          "%2e",
                          "%2E%2e/x",
                          "%00",
                          "%1f",
                          "%7F",
                          "%80",
                          "%c3",
                          "%c3%28",
                          "%c0%80",
                          "%e0%80%80",
                          "%ed%bf%bf",
                          "%f0%80%80%80",
                          "%f4%90%80%80",
                          "%f5%80%80%80",
                          "%",
                          "%4",
                          "%4g",
                          "a%"}) {
    EXPECT_EQ(path_of(raw), "refused") << raw;
  }
}

TEST(StreamPath, ItsLengthIsThatOfTheDecodedBytes) {
  EXPECT_TRUE(stream_path("/v1/stream/%61%62", 2));
  EXPECT_FALSE(stream_path("/v1/stream/abc", 2));
}

RC_GTEST_PROP(PercentProperty, WhatIsEncodedIsDecodedToItself, (const std::string& bytes)) {
  const std::string encoded = percent_encode(bytes);
  RC_ASSERT(percent_decode(encoded) == bytes);
  RC_ASSERT(
      std::all_of(encoded.begin(), encoded.end(), [](char c) { return c > 0x20 && c < 0x7f; }));
}

RC_GTEST_PROP(PercentProperty, AnyTargetIsTakenOrRefused, (const std::string& bytes)) {
  const std::string text = "/v1/stream/" + bytes;
  const auto target = RequestTarget::parse(text);
  if (target) stream_path(target->raw_path(), 64);
}

}  // namespace
}  // namespace morula
