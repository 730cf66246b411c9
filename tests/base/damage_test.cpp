// Texts that identify things have one form: what is read from a damaged one is what stands there.
#include "tests/base/damage.hpp"

#include <gtest/gtest.h>

#include <string>

#include "core/base/ids.hpp"
#include "core/base/prefix.hpp"

namespace morula {
namespace {

constexpr int kDraws = 20'000;

TEST(DamagedText, OfAnIncarnationIsRefusedOrStandsForItself) {
  with_damage(IncarnationId{"a-1", Ulid{1, 2}}.text(), kDraws, [](const std::string& wrong) {
    const auto read = IncarnationId::parse(wrong);
    EXPECT_TRUE(!read || read->text() == wrong);
  });
}

TEST(DamagedText, OfAPrefixIsRefusedOrStandsForItself) {
  with_damage("01101", kDraws, [](const std::string& wrong) {
    const auto read = Prefix::parse(wrong);
    EXPECT_TRUE(!read || read->text() == wrong);
  });
}

TEST(DamagedText, OfJsonIsRefusedOrPrintedAsTheSameValue) {
  const std::string text =
      R"({"a": [1, -2, 3.50, 1e9, true, null], "b": {"c": "é\u0041\ud83d\ude00\n"}, "": "\\"})";
  ASSERT_TRUE(Json::parse(text));
  with_damage(text, kDraws, [](const std::string& wrong) {
    const auto read = Json::parse(wrong);
    if (!read) return;
    EXPECT_TRUE(Json::parse(read->compact()).value() == *read) << read->compact();
    EXPECT_TRUE(Json::parse(read->pretty()).value() == *read) << read->pretty();
  });
}

}  // namespace
}  // namespace morula
