#include "prod/s3/s3_request.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "prod/s3/digest.hpp"
#include "prod/s3/s3_range.hpp"
#include "prod/s3/uri.hpp"

namespace morula {
namespace {

S3Requests requests() {
  return S3Requests({"bucket", "cell/"}, "/bucket/");
}

std::string header(const S3Request& request, std::string_view name) {
  const auto found = request.http.headers.find(name);
  return std::string(found.value_or("none"));
}

TEST(S3Request, PutCarriesItsConditionAndTheHashOfItsBody) {
  const Blob body = make_blob("words");
  const S3Request none =
      requests().put("log/a b", body, Precondition::none(), EtagQuoting::kQuoted);
  EXPECT_EQ(none.http.method + " " + none.http.target, "PUT /bucket/cell/log/a%20b");
  EXPECT_EQ(header(none, "If-Match") + header(none, "If-None-Match"), "nonenone");
  EXPECT_EQ(none.body_sha256, sha256_hex("words"));
  EXPECT_TRUE(none.changes);
  const S3Request absent =
      requests().put("k", body, Precondition::if_absent(), EtagQuoting::kQuoted);
  EXPECT_EQ(header(absent, "If-None-Match"), "*") << "in quotes it is an etag like any other";
  for (const char* etag : {"\"abc\"", "abc"}) {
    const auto condition = Precondition::if_match(etag);
    EXPECT_EQ(header(requests().put("k", body, condition, EtagQuoting::kQuoted), "If-Match"),
              "\"abc\"");
    EXPECT_EQ(header(requests().put("k", body, condition, EtagQuoting::kUnquoted), "If-Match"),
              "abc");
  }
}

TEST(S3Request, RangeIsInclusiveAndNeverOverflows) {
  EXPECT_EQ(header(requests().get("k", ByteRange{3, 4}), "Range"), "bytes=3-6");
  EXPECT_EQ(header(requests().get("k", ByteRange{0, 1}), "Range"), "bytes=0-0");
  EXPECT_EQ(header(requests().get("k", ByteRange{5, UINT64_MAX}), "Range"),
            "bytes=5-9223372036854775807");
  EXPECT_EQ(header(requests().get("k", std::nullopt), "Range"), "none");
}

TEST(S3Request, ListIsSortedEncodedAndBelowThePrefix) {
  EXPECT_EQ(requests().list("log/", "log/a+b", 7, "").http.target,
            "/bucket/?encoding-type=url&list-type=2&max-keys=7&prefix=cell%2Flog%2F"
            "&start-after=cell%2Flog%2Fa%2Bb");
  EXPECT_EQ(requests().list("", "x", 7, "to/ken&=").http.target,
            "/bucket/?continuation-token=to%2Fken%26%3D&encoding-type=url&list-type=2&max-keys=7"
            "&prefix=cell%2F")
      << "the token says where to go on";
}

TEST(S3Request, DeleteOfManyEscapesKeysAndCarriesAChecksum) {
  const std::string keys[] = {"a<b>&\"c\"", "log/1"};
  const S3Request request = requests().remove_many(keys);
  EXPECT_EQ(request.http.method + " " + request.http.target, "POST /bucket/?delete=");
  EXPECT_NE(request.body->find("<Object><Key>cell/a&lt;b&gt;&amp;&quot;c&quot;</Key></Object>"
                               "<Object><Key>cell/log/1</Key></Object>"),
            std::string::npos)
      << *request.body;
  EXPECT_EQ(header(request, "Content-MD5"), md5_base64(*request.body));
}

RC_GTEST_PROP(S3Uri, EncodedBytesComeBack, (const std::string& text)) {
  const std::string encoded = encode_query_part(text);
  for (const char c : encoded) RC_ASSERT(c > 0x20 && c < 0x7f && c != '/' && c != '&' && c != '+');
  RC_ASSERT(*decode_listed(encoded) == text);
}

TEST(S3Uri, HalfAnEscapeIsAnError) {
  for (const char* wrong : {"%", "a%2", "%zz", "a%g0"}) EXPECT_FALSE(decode_listed(wrong)) << wrong;
  EXPECT_EQ(*decode_listed("a+b%2B%2f"), "a b+/");
}

struct LocationCase {
  const char* text;
  const char* bucket;
  const char* prefix;
};

TEST(S3Location, IsABucketAndAPrefix) {
  for (const LocationCase& c :
       {LocationCase{"s3://bucket", "bucket", ""}, LocationCase{"s3://bucket/", "bucket", ""},
        LocationCase{"s3://bucket/a/b", "bucket", "a/b/"},
        LocationCase{"s3://my.bucket-1/a/", "my.bucket-1", "a/"}}) {
    const auto parsed = parse_s3_location(c.text);
    ASSERT_TRUE(parsed) << c.text;
    EXPECT_EQ(parsed->bucket, c.bucket);
    EXPECT_EQ(parsed->prefix, c.prefix);
  }
  for (const char* wrong : {"s3://", "s3:///x", "s3://ab", "s3://bucket//a", "s3://bucket/a//b",
                            "http://bucket", "s3://buc ket/x", "s3://buc@ket/x"}) {
    const auto parsed = parse_s3_location(wrong);
    ASSERT_FALSE(parsed) << wrong;
    EXPECT_NE(parsed.error().message.find("s3://BUCKET"), std::string::npos);
  }
}

std::string endpoint(std::string_view url, S3Addressing how, std::string_view bucket = "bucket",
                     std::string_view region = "eu-west-1") {
  const auto made = resolve_s3_endpoint(url, region, bucket, how);
  return made ? made->base + " " + made->host + " " + made->path : made.error().message;
}

TEST(S3Location, BucketIsInTheHostAtAwsAndInThePathElsewhere) {
  EXPECT_EQ(endpoint("", S3Addressing::kAuto),
            "https://bucket.s3.eu-west-1.amazonaws.com bucket.s3.eu-west-1.amazonaws.com /");
  EXPECT_EQ(endpoint("", S3Addressing::kAuto, "my.bucket"),
            "https://s3.eu-west-1.amazonaws.com s3.eu-west-1.amazonaws.com /my.bucket/");
  EXPECT_EQ(endpoint("", S3Addressing::kPath),
            "https://s3.eu-west-1.amazonaws.com s3.eu-west-1.amazonaws.com /bucket/");
  EXPECT_EQ(endpoint("", S3Addressing::kPath, "bucket", "cn-north-1"),
            "https://s3.cn-north-1.amazonaws.com.cn s3.cn-north-1.amazonaws.com.cn /bucket/");
  EXPECT_EQ(endpoint("http://127.0.0.1:9000/", S3Addressing::kAuto),
            "http://127.0.0.1:9000 127.0.0.1:9000 /bucket/");
  EXPECT_EQ(endpoint("https://store.example:443", S3Addressing::kVirtualHost),
            "https://bucket.store.example bucket.store.example /")
      << "curl leaves the scheme's own port out of Host, and Host is signed";
  for (const char* wrong :
       {"store.example", "ftp://x", "https://", "https://x/path", "http://a b"}) {
    EXPECT_NE(endpoint(wrong, S3Addressing::kAuto).find("HOST:PORT"), std::string::npos) << wrong;
  }
}

HttpResponse part(int status, const std::string& range, const std::string& body) {
  HttpResponse answer;
  answer.status = status;
  answer.body = body;
  answer.headers.add("Content-Length", std::to_string(body.size()));
  if (!range.empty()) answer.headers.add("Content-Range", range);
  return answer;
}

std::string read(HttpResponse answer, ByteRange range) {
  const auto body = body_of_range(std::move(answer), range);
  return body ? *body : "<" + std::string(to_string(body.error().code)) + ">";
}

TEST(S3Range, AnswerMustBeWhatWasAsked) {
  EXPECT_EQ(read(part(206, "bytes 3-6/10", "3456"), {3, 4}), "3456");
  EXPECT_EQ(read(part(206, "bytes 8-9/10", "89"), {8, 100}), "89") << "cut at the end";
  EXPECT_EQ(read(part(206, "bytes 2-5/10", "2345"), {3, 4}), "<unavailable>") << "another start";
  EXPECT_EQ(read(part(206, "bytes 3-5/10", "345"), {3, 4}), "<unavailable>") << "too short";
  EXPECT_EQ(read(part(206, "bytes 3-7/10", "34567"), {3, 4}), "<unavailable>") << "too long";
  EXPECT_EQ(read(part(206, "bytes 3-6/10", "345"), {3, 4}), "<unavailable>") << "a cut body";
  EXPECT_EQ(read(part(206, "", "3456"), {3, 4}), "<unavailable>") << "no Content-Range";
  EXPECT_EQ(read(part(206, "bytes */10", "3456"), {3, 4}), "<unavailable>");
  EXPECT_EQ(read(part(206, "bytes 3-6/5", "3456"), {3, 4}), "<unavailable>") << "past its own end";
  HttpResponse endless = part(206, "bytes 3-6/10", "3456");
  endless.headers.erase("Content-Length");
  EXPECT_EQ(read(endless, {3, 4}), "<unavailable>") << "its end is told by nothing";
}

TEST(S3Range, WholeObjectServesAsWell) {
  EXPECT_EQ(read(part(200, "", "0123456789"), {3, 4}), "3456");
  EXPECT_EQ(read(part(200, "", "0123456789"), {8, 9}), "89");
  EXPECT_EQ(read(part(200, "", "0123456789"), {10, 1}), "<invalid>");
  EXPECT_EQ(read(part(200, "", ""), {0, 1}), "");
}

}  // namespace
}  // namespace morula
