#include <gtest/gtest.h>

#include <vector>

#include "core/rt/network.hpp"
#include "core/rt/store.hpp"

namespace morula {
namespace {

std::vector<Headers::Field> all(const Headers& headers) {
  return {headers.begin(), headers.end()};
}

TEST(HeadersTest, NamesCompareWithoutCase) {
  Headers headers;
  headers.add("Content-Type", "text/plain");
  ASSERT_TRUE(headers.contains("content-TYPE"));
  EXPECT_EQ(*headers.find("content-TYPE"), "text/plain");
  EXPECT_FALSE(headers.contains("content-typ"));
  EXPECT_FALSE(headers.contains("content-types"));
}

TEST(HeadersTest, OnlyLettersHaveTwoCases) {
  Headers headers;
  headers.add("x@y", "at");
  headers.add("x[y", "bracket");
  EXPECT_FALSE(headers.contains("x`y"));
  EXPECT_FALSE(headers.contains("x{y"));
}

TEST(HeadersTest, KeepsRepeatedFieldsInOrder) {
  Headers headers;
  headers.add("Accept", "a");
  headers.add("Host", "h");
  headers.add("accept", "b");
  EXPECT_EQ(headers.count("ACCEPT"), 2u);
  EXPECT_EQ(*headers.find("accept"), "a");
  EXPECT_EQ(all(headers).size(), 3u);
  EXPECT_EQ(all(headers)[2].value, "b");
}

TEST(HeadersTest, SetLeavesOneFieldInThePlaceOfTheFirst) {
  Headers headers;
  headers.add("A", "1");
  headers.add("B", "2");
  headers.add("a", "3");
  headers.add("C", "4");
  headers.set("a", "5");
  ASSERT_EQ(all(headers).size(), 3u);
  EXPECT_EQ(all(headers)[0].value, "5");
  EXPECT_EQ(all(headers)[2].name, "C");
  headers.set("D", "6");
  EXPECT_EQ(all(headers).back().value, "6");
}

TEST(HeadersTest, EraseTakesAllFieldsOfThatName) {
  Headers headers;
  headers.add("A", "1");
  headers.add("B", "2");
  headers.add("a", "3");
  headers.erase("A");
  ASSERT_EQ(all(headers).size(), 1u);
  EXPECT_EQ(all(headers)[0].name, "B");
  EXPECT_EQ(headers.count("a"), 0u);
}

TEST(PurposeTest, HasANameForAccounts) {
  EXPECT_EQ(to_string(Purpose::kLog), "log");
  EXPECT_EQ(to_string(Purpose::kMetaRead), "meta_read");
  EXPECT_EQ(to_string(Purpose::kTrim), "trim");
}

}  // namespace
}  // namespace morula
