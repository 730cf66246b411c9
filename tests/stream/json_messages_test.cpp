#include "core/stream/json_messages.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/base/codec.hpp"
#include "tests/base/json_grammar.hpp"

namespace morula {
namespace {

using Texts = std::vector<std::string>;

Texts messages_of(const JsonMessages& split) {
  if (split.count == 1) {
    EXPECT_TRUE(split.lengths.empty());
    return {split.bytes};
  }
  Texts messages;
  Decoder lengths(split.lengths);
  std::string_view rest = split.bytes;
  while (!lengths.at_end()) {
    const uint64_t length = lengths.varint();
    messages.emplace_back(rest.substr(0, length));
    rest.remove_prefix(length);
  }
  EXPECT_TRUE(rest.empty());
  EXPECT_EQ(messages.size(), split.count);
  return messages;
}

Texts split(std::string_view body) {
  const auto result = split_json_messages(body);
  if (!result) return {"refused: " + result.error().message};
  return messages_of(*result);
}

TEST(JsonMessages, AnArrayIsOneLevelOfBatching) {
  EXPECT_EQ(split(R"({"event": "created"})"), Texts{R"({"event": "created"})"});
  EXPECT_EQ(split(R"([{"event": "a"}, {"event": "b"}])"),
            (Texts{R"({"event": "a"})", R"({"event": "b"})"}));
  EXPECT_EQ(split("[[1,2], [3,4]]"), (Texts{"[1,2]", "[3,4]"}));
  EXPECT_EQ(split("[[[1,2,3]]]"), Texts{"[[1,2,3]]"});
  EXPECT_EQ(split("[]"), Texts{});
  EXPECT_EQ(split(" [ \n ] "), Texts{});
  EXPECT_EQ(split("[[]]"), Texts{"[]"});
  EXPECT_EQ(split("[{}]"), Texts{"{}"});
}

TEST(JsonMessages, AMessageKeepsItsBytes) {
  EXPECT_EQ(split(" \t\r\n1.50E+1 "), Texts{"1.50E+1"});
  EXPECT_EQ(split("[ 1 , \"a b\" ,{ \"x\" : [ ] } ]"), (Texts{"1", "\"a b\"", "{ \"x\" : [ ] }"}));
  EXPECT_EQ(split(R"("\u00e4\ud83d\ude00 \/ ä")"), Texts{R"("\u00e4\ud83d\ude00 \/ ä")"});
  EXPECT_EQ(
      split("[0.000000000000000000000000000000000001,1e999999,123456789012345678901234567890]"),
      (Texts{"0.000000000000000000000000000000000001", "1e999999",
             "123456789012345678901234567890"}));
}

TEST(JsonMessages, HalfOfASurrogatePairIsValidJson) {
  EXPECT_EQ(split(R"(["\ud800", "\udc00x", "\uD800\uD800"])"),
            (Texts{R"("\ud800")", R"("\udc00x")", R"("\uD800\uD800")"}));
}

TEST(JsonMessages, EverythingIsValidated) {
  for (const char* body : {"",
                           " ",
                           "{",
                           "}",
                           "[",
                           "]",
                           "[1",
                           "1]",
                           "[1,]",
                           "[,1]",
                           "[1 2]",
                           "[1,,2]",
                           "{\"a\"}",
                           "{\"a\":}",
                           "{\"a\":1,}",
                           "{a:1}",
                           "{1:2}",
                           "{,}",
                           "{\"a\" 1}",
                           "{]",
                           "[}",
                           "nul",
                           "nulll",
                           "truefalse",
                           "[tru]",
                           "01",
                           "-",
                           "+1",
                           "1.",
                           ".1",
                           "1e",
                           "0x1",
                           "1 2",
                           "{} {}",
                           "[] []",
                           "\"a",
                           "a\"",
                           "\"a\"b",
                           "1\"a\"",
                           "\"\\x\"",
                           "\"\\u12\"",
                           "\"\\u12g4\"",
                           "\"\\\"",
                           "\"a\nb\"",
                           "\"\x01\"",
                           "\"\xff\"",
                           "\xef\xbb\xbf[]",
                           "[1]x",
                           "[\"a\"\"b\"]",
                           "'a'",
                           "NaN",
                           "-Infinity",
                           "\xc0\x80",
                           "[\"\xed\xa0\x80\"]",
                           "//x\n1",
                           "[1:2]",
                           "{\"a\":1:2}",
                           ":",
                           ",",
                           "{\"a\":1 \"b\":2}"}) {
    const auto result = split_json_messages(body);
    ASSERT_FALSE(result) << body;
    EXPECT_EQ(result.error().code, ErrorCode::kInvalid);
    EXPECT_TRUE(result.error().message.starts_with("the body is not JSON")) << body;
  }
  EXPECT_FALSE(split_json_messages(std::string_view("[1]\0", 4)));
  EXPECT_FALSE(split_json_messages(std::string_view("\0", 1)));
}

TEST(JsonMessages, NamesTheByteThatIsWrong) {
  EXPECT_EQ(split_json_messages("[1, 02]").error().message,
            "the body is not JSON: not a value, at byte 4");
  EXPECT_EQ(split_json_messages("[1").error().message,
            "the body is not JSON: the body ends too early, at byte 2");
}

TEST(JsonMessages, NestsAsDeepAsReadersCanAndNoDeeper) {
  const auto nested = [](size_t n) { return std::string(n, '[') + std::string(n, ']'); };
  EXPECT_TRUE(split_json_messages(nested(kJsonDepthMax)));
  EXPECT_FALSE(split_json_messages(nested(kJsonDepthMax + 1)));
  EXPECT_FALSE(split_json_messages(nested(2'000'000)));
}

TEST(JsonMessages, SplitsALargeBatch) {
  std::string body = "[1";
  for (int i = 1; i < 500'000; ++i) body += ",1";
  const auto result = split_json_messages(body + "]");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->count, 500'000u);
  EXPECT_EQ(result->bytes, std::string(500'000, '1'));
}

std::string any_space() {
  return *rc::gen::container<std::string>(rc::gen::element(' ', '\n', '\t', '\r'));
}

std::string any_value(int depth) {
  const int kind = *rc::gen::inRange(0, depth == 0 ? 4 : 6);
  if (kind == 0) return std::to_string(*rc::gen::arbitrary<int>());
  if (kind == 1) return *rc::gen::element<std::string>("true", "null", "-0.5e-7", "\"\"");
  if (kind == 2) return *rc::gen::element<std::string>(R"("\"")", R"("\\")", R"("[,]{:}")");
  if (kind == 3) return "\"" + std::string(*rc::gen::inRange<size_t>(0, 150), 'x') + "\"";
  std::string value = kind == 4 ? "[" : "{";
  const int count = *rc::gen::inRange(0, 4);
  for (int i = 0; i < count; ++i) {
    if (i > 0) value += ",";
    value += any_space();
    if (kind == 5) value += "\"m\"" + any_space() + ":" + any_space();
    value += any_value(depth - 1) + any_space();
  }
  return value + (kind == 4 ? "]" : "}");
}

RC_GTEST_PROP(JsonMessagesProperty, ABatchGivesItsElementsBack, ()) {
  const int count = *rc::gen::inRange(0, 12);
  Texts values;
  std::string body = any_space() + "[" + any_space();
  for (int i = 0; i < count; ++i) {
    values.push_back(any_value(3));
    body += (i > 0 ? "," : "") + any_space() + values.back() + any_space();
  }
  RC_ASSERT(split(body + "]" + any_space()) == values);
}

RC_GTEST_PROP(JsonMessagesProperty, TakesWhatTheGrammarTakes, ()) {
  // Pieces that often join to JSON, and nearly as often almost do.
  const auto pieces = *rc::gen::container<Texts>(rc::gen::element<std::string>(
      "[", "]", "{", "}", ",", ":", "\"", "\"a\"", "\"a\":", "1", "-1.5", "0", "true", "null", " ",
      "\n", "\\", "\\n", "\\u00e4", "\xc3\xa4", "\xc3", "e5", ".", "x", "\x01"));
  std::string body;
  for (const std::string& piece : pieces) body += piece;
  RC_ASSERT(split_json_messages(body).has_value() == is_json(body));
}

RC_GTEST_PROP(JsonMessagesProperty, OneChangedByteIsSeenAsTheGrammarSeesIt, ()) {
  std::string body = any_value(4);
  const size_t at = *rc::gen::inRange<size_t>(0, body.size());
  body[at] =
      *rc::gen::element('[', ']', '{', '}', ',', ':', '"', '\\', ' ', '0', '\xff', '\0', 'e');
  RC_ASSERT(split_json_messages(body).has_value() == is_json(body));
}

}  // namespace
}  // namespace morula
