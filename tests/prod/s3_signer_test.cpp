// The examples are those of AWS's documentation of Signature Version 4 for S3.
#include <gtest/gtest.h>

#include "prod/s3/digest.hpp"
#include "prod/s3/signer.hpp"
#include "prod/s3/uri.hpp"

namespace morula {
namespace {

const Credentials kExample{"AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "",
                           std::nullopt};
constexpr const char* kHost = "examplebucket.s3.amazonaws.com";
const WallTime kNow{1369353600000};  // 2013-05-24T00:00:00Z
const std::string kEmpty = sha256_hex("");

HttpRequest request(std::string method, std::string target) {
  HttpRequest made;
  made.method = std::move(method);
  made.target = std::move(target);
  return made;
}

std::string signature_of(HttpRequest asked, const std::string& body_sha256) {
  sign_request(asked, kHost, body_sha256, {"us-east-1", "s3"}, kExample, kNow);
  const std::string_view header = *asked.headers.find("Authorization");
  return std::string(header.substr(header.find("Signature=") + 10));
}

TEST(S3Signer, SignsAGetOfARangeAsAwsDoes) {
  HttpRequest asked = request("GET", "/test.txt");
  asked.headers.add("Range", "bytes=0-9");
  EXPECT_EQ(signature_of(asked, kEmpty),
            "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
}

TEST(S3Signer, SignsAPutAsAwsDoes) {
  HttpRequest asked = request("PUT", "/" + encode_path("test$file.text"));
  asked.headers.add("Date", "Fri, 24 May 2013 00:00:00 GMT");
  asked.headers.add("x-amz-storage-class", "REDUCED_REDUNDANCY");
  EXPECT_EQ(signature_of(asked, sha256_hex("Welcome to Amazon S3.")),
            "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd");
}

TEST(S3Signer, SignsAFlagOfTheQueryAsAwsDoes) {
  EXPECT_EQ(signature_of(request("GET", "/?" + encode_query({{"lifecycle", ""}})), kEmpty),
            "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
}

TEST(S3Signer, SignsParametersInOrderAsAwsDoes) {
  const std::string query = encode_query({{"prefix", "J"}, {"max-keys", "2"}});
  EXPECT_EQ(query, "max-keys=2&prefix=J");
  EXPECT_EQ(signature_of(request("GET", "/?" + query), kEmpty),
            "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
}

TEST(S3Signer, CoversConditionsAndSessionToken) {
  HttpRequest asked = request("PUT", "/k");
  asked.headers.add("If-None-Match", "*");
  Credentials session = kExample;
  session.session_token = "token";
  sign_request(asked, kHost, kEmpty, {"us-east-1", "s3"}, session, kNow);
  EXPECT_NE(asked.headers.find("Authorization")
                ->find("SignedHeaders=host;if-none-match;x-amz-content-sha256;x-amz-date;"
                       "x-amz-security-token,"),
            std::string::npos)
      << *asked.headers.find("Authorization");
  EXPECT_EQ(*asked.headers.find("X-Amz-Security-Token"), "token");
  EXPECT_EQ(*asked.headers.find("X-Amz-Date"), "20130524T000000Z");
}

TEST(S3Signer, BlanksInAValueDoNotChangeTheSignature) {
  HttpRequest one = request("GET", "/k");
  one.headers.add("X-Amz-Meta-A", "a b");
  HttpRequest other = request("GET", "/k");
  other.headers.add("x-amz-meta-a", "  a   b ");
  EXPECT_EQ(signature_of(one, kEmpty), signature_of(other, kEmpty));
}

TEST(S3Digest, KnowsTheExamplesOfItsStandards) {
  EXPECT_EQ(kEmpty, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(md5_base64("abc"), "kAFQmDzST7DWlj99KOF/cg==");
  EXPECT_EQ(hex(hmac_sha256("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

}  // namespace
}  // namespace morula
