#include "core/stream/content_type.hpp"

#include <gtest/gtest.h>

namespace morula {
namespace {

TEST(ContentType, MatchesByMediaTypeWithoutCaseAndParameters) {
  EXPECT_EQ(media_type("text/plain", 256), "text/plain");
  EXPECT_EQ(media_type("Text/Plain", 256), "Text/Plain");
  EXPECT_EQ(media_type("text/plain; charset=utf-8", 256), "text/plain");
  EXPECT_EQ(media_type("  text/plain ;x", 256), "text/plain");
  EXPECT_EQ(media_type("application/vnd.api+json", 256), "application/vnd.api+json");
}

TEST(ContentType, MediaTypesCompareWithoutCase) {
  EXPECT_TRUE(same_media("Text/Plain", "tEXT/pLAIN"));
  EXPECT_FALSE(same_media("text/plain", "text/plai"));
  EXPECT_FALSE(same_media("text/@", "text/`"));
}

TEST(ContentType, OnlyApplicationJsonIsJson) {
  EXPECT_TRUE(is_json_media(*media_type("APPLICATION/JSON;charset=utf-8", 256)));
  EXPECT_FALSE(is_json_media(*media_type("application/vnd.api+json", 256)));
  EXPECT_FALSE(is_json_media(*media_type("application/json-seq", 256)));
}

TEST(ContentType, RejectsWhatHasNoTypeAndSubtype) {
  for (const char* text : {"", "text", "/plain", "text/", "text/pl ain", "te(xt/plain", ";a/b",
                           "text/plain; a=\x01", "text/plain; a=\xc3\xa4", "text/plain/x"}) {
    EXPECT_FALSE(media_type(text, 256)) << text;
  }
  EXPECT_TRUE(media_type("text/" + std::string(251, 'x'), 256));
  EXPECT_FALSE(media_type("text/" + std::string(252, 'x'), 256));
}

TEST(ContentType, ACodeStandsForExactlyOneText) {
  for (uint8_t code = 1; content_type_of(code) != nullptr; ++code) {
    EXPECT_EQ(content_type_code(content_type_of(code)), code);
    EXPECT_TRUE(media_type(content_type_of(code), 256));
  }
  EXPECT_EQ(content_type_of(0), nullptr);
  EXPECT_EQ(content_type_code("Text/plain"), 0);
  EXPECT_EQ(content_type_code("image/png"), 0);
}

TEST(ContentType, TheCodesThatAreInBucketsKeepTheirMeaning) {
  EXPECT_STREQ(content_type_of(1), "application/octet-stream");
  EXPECT_STREQ(content_type_of(2), "application/json");
  EXPECT_STREQ(content_type_of(3), "text/plain");
}

}  // namespace
}  // namespace morula
