#include "core/base/json.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "tests/base/json_grammar.hpp"

namespace morula {
namespace {

/// The lines of tests/base/json/<name>, without comments. "\xHH" in a line is that byte, "\N{n}"
/// repeats the character before it n times.
std::vector<std::string> corpus(const std::string& name) {
  std::ifstream file(std::string(MORULA_SOURCE_DIR) + "/tests/base/json/" + name);
  EXPECT_TRUE(file.good()) << name;
  std::vector<std::string> cases;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("#")) continue;
    std::string text;
    for (size_t i = 0; i < line.size(); ++i) {
      if (line.compare(i, 2, "\\x") == 0) {
        text.push_back(static_cast<char>(std::stoi(line.substr(i + 2, 2), nullptr, 16)));
        i += 3;
      } else if (line.compare(i, 3, "\\N{") == 0) {
        const size_t end = line.find('}', i);
        text.append(std::stoul(line.substr(i + 3, end - i - 3)) - 1, text.back());
        i = end;
      } else {
        text.push_back(line[i]);
      }
    }
    cases.push_back(text);
  }
  EXPECT_GT(cases.size(), 10u) << name;
  return cases;
}

TEST(Json, AcceptsEveryValidText) {
  for (const std::string& text : corpus("valid.txt")) {
    const auto json = Json::parse(text);
    ASSERT_TRUE(json) << text << ": " << json.error().message;
    EXPECT_TRUE(is_json(text)) << "the test's own grammar: " << text;
    const auto again = Json::parse(json->compact());
    ASSERT_TRUE(again) << json->compact() << ": " << again.error().message;
    EXPECT_EQ(*again, *json);
    EXPECT_EQ(Json::parse(json->pretty()), *json);
  }
}

TEST(Json, RefusesEveryInvalidText) {
  for (const std::string& text : corpus("invalid.txt")) {
    const auto json = Json::parse(text);
    EXPECT_FALSE(is_json(text)) << "the test's own grammar: " << text;
    ASSERT_FALSE(json) << "accepted: " << text;
    EXPECT_EQ(json.error().code, ErrorCode::kCorrupt);
    EXPECT_TRUE(json.error().message.starts_with("JSON")) << json.error().message;
  }
}

TEST(Json, NamesTheByteOfAnError) {
  EXPECT_EQ(Json::parse(R"({"a": 01})").error().message,
            "JSON at byte 6: neither a string, a number, true, false nor null");
  EXPECT_EQ(Json::parse(R"(["\ud800"])").error().message,
            "JSON at byte 1: the first half of a surrogate pair alone");
  EXPECT_EQ(Json::parse("{} {}").error().message, "JSON at byte 3: something after the value");
}

TEST(Json, NestsSixtyFourLevelsAndNoMore) {
  const auto nested = [](int depth) {
    const auto n = static_cast<size_t>(depth);
    return std::string(n, '[') + std::string(n, ']');
  };
  EXPECT_TRUE(Json::parse(nested(Json::kDepthMax)));
  EXPECT_FALSE(Json::parse(nested(Json::kDepthMax + 1)));
  EXPECT_FALSE(Json::parse(nested(100'000)));
}

TEST(Json, KeepsIntegersOfSixtyFourBitsExactly) {
  const auto json = Json::parse("[0,-0,18446744073709551615,-9223372036854775808,-1,1.0]");
  ASSERT_TRUE(json);
  const auto& elements = *json->as_array();
  EXPECT_EQ(elements[0], Json(uint64_t{0}));
  EXPECT_EQ(elements[1], Json(uint64_t{0}));
  EXPECT_EQ(*elements[2].as_u64(), ~uint64_t{0});
  EXPECT_EQ(elements[3], Json(std::numeric_limits<int64_t>::min()));
  EXPECT_EQ(elements[3].as_u64(), nullptr);
  EXPECT_EQ(elements[5].as_u64(), nullptr);
  EXPECT_EQ(json->compact(), "[0,0,18446744073709551615,-9223372036854775808,-1,1.0]");
  EXPECT_EQ(Json(int64_t{5}), Json(uint64_t{5}));
}

TEST(Json, PrintsNumbersThatItCannotHoldAsTheyCame) {
  const std::string text = "[123456789012345678901234567890,1e400,-0.10E-7]";
  EXPECT_EQ(Json::parse(text)->compact(), text);
}

TEST(Json, TakesTheLastOfMembersWithOneName) {
  EXPECT_EQ(Json::parse(R"({"a":1,"\u0061":2})")->compact(), R"({"a":2})");
}

TEST(Json, PrintsForPeople) {
  const Json json(Json::Object{{"b", Json::Array{uint64_t{1}, true, Json()}}, {"a", "x\ny"}});
  EXPECT_EQ(json.pretty(), R"({
  "a": "x\ny",
  "b": [
    1,
    true,
    null
  ]
}
)");
  EXPECT_EQ(json.compact(), R"({"a":"x\ny","b":[1,true,null]})");
  EXPECT_EQ(Json(Json::Array{}).pretty(), "[]\n");
}

TEST(Json, NamesTheMemberThatIsMissingOrOfAnotherType) {
  const Json json(Json::Object{{"n", uint64_t{7}}, {"s", "text"}, {"t", true}});
  EXPECT_EQ(json.u64_at("n"), 7u);
  EXPECT_EQ(json.string_at("s"), "text");
  EXPECT_EQ(json.bool_at("t"), true);
  EXPECT_EQ(json.string_at("n").error().message, "member \"n\" is absent or not a string");
  EXPECT_EQ(json.array_at("gone").error().message, "member \"gone\" is absent or not an array");
  EXPECT_EQ(json.u64_at("s").error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(json.bool_at("s").error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(Json("text").find("n"), nullptr);
}

TEST(JsonQuote, MakesValidJsonOfAnyBytes) {
  EXPECT_EQ(json_quote("a\"\\\x01\n\xff\xc3\xa4"), "\"a\\\"\\\\\\u0001\\n\xef\xbf\xbd\xc3\xa4\"");
}

RC_GTEST_PROP(JsonQuote, IsReadBackAsItWasWheneverItWasUtf8, (const std::string& bytes)) {
  const std::string quoted = json_quote(bytes);
  RC_ASSERT(is_json(quoted));
  const auto json = Json::parse(quoted);
  RC_ASSERT(json.has_value());
  RC_CLASSIFY(is_utf8(bytes), "UTF-8");
  if (is_utf8(bytes)) RC_ASSERT(*json->as_string() == bytes);
}

void check_as_grammar(const std::string& text) {
  const bool valid = is_json(text);
  RC_CLASSIFY(valid, "valid");
  if (Json::parse(text).has_value() != valid) RC_FAIL("misjudged: " + text);
}

/// A text of JSON-ish pieces: seldom valid, but often nearly so.
std::string pieces(const std::vector<uint8_t>& choices) {
  static const std::vector<std::string> kPieces = {
      "[",      "]",    "{",      "}", ",",    ":",      "\"a\"", "\"b\\n\"",  "0",
      "-1.5e3", "true", "null",   " ", "\n",   "\"",     "\\",    "\\u",       "d800",
      "dc00",   "1",    "e",      ".", "-",    "false",  "nul",   "\xc3\xa4",  "\xff",
      "[]",     "{}",   "\"\":1", "/", "\x01", "\"k\":", "[1,2]", ",\"x\":{}", "\\\"",
  };
  std::string text;
  for (const uint8_t choice : choices) text += kPieces[choice % kPieces.size()];
  return text;
}

RC_GTEST_PROP(Json, AcceptsExactlyTheGrammar, (const std::vector<uint8_t>& choices)) {
  const std::string text = pieces(choices);
  check_as_grammar(text);
}

RC_GTEST_PROP(Json, AcceptsExactlyTheGrammarInsideAnArrayOrObject,
              (const std::vector<uint8_t>& choices, bool object)) {
  const std::string inner = pieces(choices);
  const std::string text = object ? "{\"k\":" + inner + "}" : "[" + inner + "]";
  check_as_grammar(text);
}

RC_GTEST_PROP(Json, OneChangedByteOfAValidTextIsJudgedAsByTheGrammar,
              (uint16_t which, uint16_t place, char byte)) {
  static const std::vector<std::string> kTexts = corpus("valid.txt");
  std::string text = kTexts[which % kTexts.size()];
  text[place % text.size()] = byte;
  check_as_grammar(text);
}

RC_GTEST_PROP(Json, EveryTruncationIsJudgedAsByTheGrammar, (uint16_t which, uint16_t place)) {
  static const std::vector<std::string> kTexts = corpus("valid.txt");
  std::string text = kTexts[which % kTexts.size()];
  text.resize(place % text.size());
  check_as_grammar(text);
}

}  // namespace
}  // namespace morula
