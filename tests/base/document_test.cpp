#include "core/base/document.hpp"

#include <gtest/gtest.h>

namespace morula {
namespace {

constexpr DocumentFormat kFormat{"morula-test", 3};

std::string example() {
  return encode_document(kFormat, {{"name", "a"}, {"version", uint64_t{7}}});
}

TEST(Document, EndsInItsChecksumAndShowsWhatItIs) {
  const std::string text = example();
  EXPECT_EQ(text.substr(0, text.find("\"checksum\"")),
            "{\n  \"format\": 3,\n  \"kind\": \"morula-test\",\n  \"name\": \"a\",\n"
            "  \"version\": 7,\n  ");
  const auto opened = open_document(kFormat, text);
  ASSERT_TRUE(opened);
  EXPECT_EQ(*opened, Json(Json::Object{{"name", "a"}, {"version", uint64_t{7}}}));
}

TEST(Document, AnyFlippedBitAndAnyCutIsFound) {
  const std::string text = example();
  for (size_t bit = 0; bit < text.size() * 8; ++bit) {
    std::string damaged = text;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    const auto opened = open_document(kFormat, damaged);
    ASSERT_FALSE(opened) << damaged;
    EXPECT_EQ(opened.error().code, ErrorCode::kCorrupt);
  }
  for (size_t length = 0; length < text.size(); ++length) {
    EXPECT_FALSE(open_document(kFormat, text.substr(0, length))) << length;
  }
}

TEST(Document, SaysWhatIsWrongWithOneOfAnotherKindOrFormat) {
  EXPECT_EQ(open_document({"morula-other", 3}, example()).error().message,
            "kind is \"morula-test\", expected \"morula-other\"");
  EXPECT_EQ(open_document({"morula-test", 4}, example()).error().message,
            "format is 3, this version of morula reads 4");
  EXPECT_EQ(open_document(kFormat, "[]").error().message, "must be a JSON object");
}

}  // namespace
}  // namespace morula
