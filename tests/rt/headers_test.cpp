#include <gtest/gtest.h>

#include "core/rt/network.hpp"
#include "core/rt/store.hpp"

namespace morula {
namespace {

TEST(HeadersTest, NamesCompareWithoutCase) {
  Headers headers;
  headers.add("Content-Type", "text/plain");
  ASSERT_NE(headers.find("content-TYPE"), nullptr);
  EXPECT_EQ(*headers.find("content-TYPE"), "text/plain");
  EXPECT_EQ(headers.find("content-typ"), nullptr);
  EXPECT_EQ(headers.find("content-types"), nullptr);
}

TEST(HeadersTest, OnlyLettersHaveTwoCases) {
  Headers headers;
  headers.add("x@y", "at");
  headers.add("x[y", "bracket");
  EXPECT_EQ(headers.find("x`y"), nullptr);
  EXPECT_EQ(headers.find("x{y"), nullptr);
}

TEST(HeadersTest, KeepsRepeatedFieldsInOrder) {
  Headers headers;
  headers.add("Accept", "a");
  headers.add("Host", "h");
  headers.add("accept", "b");
  EXPECT_EQ(headers.count("ACCEPT"), 2u);
  EXPECT_EQ(*headers.find("accept"), "a");
  EXPECT_EQ(headers.all().size(), 3u);
  EXPECT_EQ(headers.all()[2].second, "b");
}

TEST(HeadersTest, SetLeavesOneFieldInThePlaceOfTheFirst) {
  Headers headers;
  headers.add("A", "1");
  headers.add("B", "2");
  headers.add("a", "3");
  headers.add("C", "4");
  headers.set("a", "5");
  ASSERT_EQ(headers.all().size(), 3u);
  EXPECT_EQ(headers.all()[0].second, "5");
  EXPECT_EQ(headers.all()[2].first, "C");
  headers.set("D", "6");
  EXPECT_EQ(headers.all().back().second, "6");
}

TEST(HeadersTest, EraseTakesAllFieldsOfThatName) {
  Headers headers;
  headers.add("A", "1");
  headers.add("B", "2");
  headers.add("a", "3");
  headers.erase("A");
  ASSERT_EQ(headers.all().size(), 1u);
  EXPECT_EQ(headers.all()[0].first, "B");
  EXPECT_EQ(headers.count("a"), 0u);
}

TEST(PurposeTest, HasANameForAccounts) {
  EXPECT_EQ(to_string(Purpose::kLog), "log");
  EXPECT_EQ(to_string(Purpose::kMetaRead), "meta_read");
  EXPECT_EQ(to_string(Purpose::kTrim), "trim");
}

}  // namespace
}  // namespace morula
