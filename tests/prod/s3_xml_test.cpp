#include "prod/s3/s3_xml.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "prod/s3/uri.hpp"

namespace morula {
namespace {

std::string xml_escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&#62;";
    } else {
      out.push_back(c);
    }
  }
  return out;
}

std::string page_of(const std::vector<std::string>& shown_keys, const std::string& rest) {
  std::string text =
      "<?xml version=\"1.0\"?><ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/"
      "2006-03-01/\">" +
      rest;
  for (const std::string& key : shown_keys) {
    text += "<Contents><Key>" + xml_escaped(key) + "</Key><Size>" + std::to_string(key.size()) +
            "</Size></Contents>";
  }
  return text + "</ListBucketResult>";
}

RC_GTEST_PROP(S3Xml, KeysOfAnyBytesComeThroughBothEncodings,
              (const std::vector<std::string>& keys)) {
  std::vector<std::string> encoded;
  std::vector<std::string> expected;
  for (const std::string& key : keys) {
    if (key.empty()) continue;
    expected.push_back(key);
    encoded.push_back(encode_path(key));
  }
  const auto page = parse_s3_page(
      page_of(encoded, "<EncodingType>url</EncodingType><IsTruncated>false</IsTruncated>"));
  RC_ASSERT(page.has_value());
  std::vector<std::string> seen;
  for (const ObjectInfo& object : page->objects) seen.push_back(object.key);
  RC_ASSERT(seen == expected);
}

TEST(S3Xml, KeysAreTakenAsTheyAreWhenTheStoreDoesNotEncodeThem) {
  const auto page = parse_s3_page(page_of(
      {"a%20b+c", "a&b<c>", " d "},
      "<IsTruncated>true</IsTruncated><NextContinuationToken>a&amp;b/+</NextContinuationToken>"));
  ASSERT_TRUE(page) << page.error().message;
  ASSERT_EQ(page->objects.size(), 3u);
  EXPECT_EQ(page->objects[0].key, "a%20b+c");
  EXPECT_EQ(page->objects[1].key, "a&b<c>");
  EXPECT_EQ(page->objects[2].key, " d ");
  EXPECT_EQ(page->objects[0].size, 7u);
  EXPECT_TRUE(page->truncated);
  EXPECT_EQ(page->next_token, "a&b/+");
}

TEST(S3Xml, EtagAndTimeAreTakenWhereTheyAreShown) {
  const auto page = [](const std::string& shown) {
    return parse_s3_page(
               "<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>k</Key>"
               "<Size>1</Size>" +
               shown + "</Contents></ListBucketResult>")
        ->objects.at(0);
  };
  const ObjectInfo told =
      page("<LastModified>2026-11-29T22:10:52.123Z</LastModified><ETag>&quot;ab-1&quot;</ETag>");
  EXPECT_EQ(told.etag, "\"ab-1\"");
  EXPECT_EQ(told.modified, WallTime{1795990252000});
  EXPECT_EQ(page("<LastModified>2026-11-29T22:10:52Z</LastModified>").modified,
            WallTime{1795990252000});
  EXPECT_EQ(page("").etag, "");
  for (const char* wrong : {"", "yesterday", "2026-11-29 22:10", "Z"}) {
    const std::string text = "<LastModified>" + std::string(wrong) + "</LastModified>";
    EXPECT_EQ(page(text).modified, std::nullopt) << wrong;
  }
}

TEST(S3Xml, WhatIsNoWholePageIsAnError) {
  const std::string good = page_of({"a"}, "<IsTruncated>false</IsTruncated>");
  ASSERT_TRUE(parse_s3_page(good));
  for (size_t length = 0; length < good.size(); ++length) {
    EXPECT_FALSE(parse_s3_page(good.substr(0, length))) << length;
  }
  for (const std::string& wrong :
       {std::string("<Error><Code>InternalError</Code></Error>"), std::string("<html></html>"),
        page_of({"a"}, ""), page_of({"a"}, "<IsTruncated>maybe</IsTruncated>"),
        page_of({"%zz"}, "<EncodingType>url</EncodingType><IsTruncated>false</IsTruncated>"),
        page_of({""}, "<IsTruncated>false</IsTruncated>")}) {
    EXPECT_FALSE(parse_s3_page(wrong)) << wrong;
  }
  const auto failed = parse_s3_page("<Error><Code>SlowDown</Code><Message>no</Message></Error>");
  EXPECT_EQ(failed.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(failed.error().message.find("SlowDown"), std::string::npos);
}

TEST(S3Xml, ErrorsOfSingleKeysAreTold) {
  const auto failures = parse_delete_result(
      "<DeleteResult><Deleted><Key>a</Key></Deleted>"
      "<Error><Key>b</Key><Code>AccessDenied</Code><Message>no</Message></Error>"
      "<Error><Key>c</Key><Code>NoSuchKey</Code></Error></DeleteResult>");
  ASSERT_TRUE(failures);
  ASSERT_EQ(failures->size(), 1u);
  EXPECT_EQ(failures->front().key, "b");
  EXPECT_EQ(failures->front().error.code, "AccessDenied");
  EXPECT_TRUE(parse_delete_result("<DeleteResult/>"));
  for (const char* wrong : {"", "<DeleteResult>", "<Error><Code>InternalError</Code></Error>"}) {
    EXPECT_FALSE(parse_delete_result(wrong)) << wrong;
  }
}

TEST(S3Xml, KnowsAnErrorFromOtherThings) {
  const auto error = parse_s3_error(
      "<?xml version=\"1.0\"?>\n<Error><Code>PermanentRedirect</Code><Message>m</Message>"
      "<Region>eu-west-1</Region></Error>");
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code, "PermanentRedirect");
  EXPECT_EQ(error->region, "eu-west-1");
  for (const char* other : {"", "nonsense", "<html><body>502</body></html>", "<Error><Code>"}) {
    EXPECT_FALSE(parse_s3_error(other)) << other;
  }
}

}  // namespace
}  // namespace morula
