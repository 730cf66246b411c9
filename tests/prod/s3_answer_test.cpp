#include "prod/s3/s3_answer.hpp"

#include <gtest/gtest.h>

namespace morula {
namespace {

const S3Requests kRequests({"bucket", "cell/"}, "/bucket/");

S3Request put() {
  return kRequests.put("k", make_blob("x"), Precondition::if_absent(), EtagQuoting::kQuoted);
}

S3Failure failure(const S3Request& request, int status, const std::string& code,
                  const std::string& more = "") {
  HttpResponse answer;
  answer.status = status;
  answer.headers.add("Retry-After", "7");
  if (!code.empty()) answer.body = "<Error><Code>" + code + "</Code>" + more + "</Error>";
  return failure_of(request, answer).value_or(S3Failure{{ErrorCode::kFull, "none", 0}, 0, {}, {}});
}

std::string meaning(const S3Request& request, int status, const std::string& code) {
  return std::string(to_string(failure(request, status, code).error.code));
}

TEST(S3Answer, OnlyCertainAnswersToAPutAreCertain) {
  EXPECT_EQ(meaning(put(), 412, "PreconditionFailed"), "precondition_failed");
  EXPECT_EQ(meaning(put(), 409, "ConditionalRequestConflict"), "conflict");
  EXPECT_EQ(meaning(put(), 409, "OperationAborted"), "conflict");
  EXPECT_EQ(meaning(put(), 500, "InternalError"), "unavailable");
  EXPECT_EQ(meaning(put(), 500, "UnknownError"), "unavailable");
  EXPECT_EQ(meaning(put(), 500, ""), "unavailable");
  EXPECT_EQ(meaning(put(), 503, "ServiceUnavailable"), "unavailable");
  EXPECT_EQ(meaning(put(), 503, ""), "unavailable") << "a proxy's 503 may come after the put";
  EXPECT_EQ(meaning(put(), 504, ""), "unavailable");
  EXPECT_EQ(meaning(put(), 202, ""), "unavailable") << "an odd success";
  EXPECT_EQ(meaning(put(), 400, "RequestTimeout"), "unavailable");
  EXPECT_EQ(meaning(put(), 503, "SlowDown"), "throttled");
  EXPECT_EQ(meaning(put(), 429, ""), "throttled");
  EXPECT_EQ(meaning(put(), 503, "SlowDownWrite"), "unavailable") << "may have reached some disks";
}

TEST(S3Answer, AbsentIsOnlyWhatIsSaidToBeAbsent) {
  const S3Request get = kRequests.get("k", std::nullopt);
  EXPECT_EQ(meaning(get, 404, "NoSuchKey"), "not_found");
  EXPECT_EQ(meaning(get, 404, "NoSuchBucket"), "invalid");
  EXPECT_EQ(meaning(get, 404, ""), "unavailable") << "a page of some proxy";
  EXPECT_EQ(meaning(get, 403, "AccessDenied"), "denied") << "never absent";
  EXPECT_EQ(meaning(get, 416, "InvalidRange"), "invalid");
}

TEST(S3Answer, RefusalsSayWhatToDo) {
  const auto says = [](int status, const std::string& code, const std::string& advice) {
    const std::string message =
        failure(put(), status, code, "<Region>eu-west-1</Region>").error.message;
    EXPECT_NE(message.find(advice), std::string::npos) << message;
    EXPECT_NE(message.find("PUT s3://bucket/cell/k: " + std::to_string(status)), std::string::npos)
        << message;
  };
  says(403, "SignatureDoesNotMatch", "AWS_SECRET_ACCESS_KEY");
  says(403, "AccessDenied", "s3:ListBucket");
  says(404, "NoSuchBucket", "create it");
  says(301, "PermanentRedirect", "--s3-region eu-west-1");
  says(400, "AuthorizationHeaderMalformed", "--s3-region eu-west-1");
}

TEST(S3Answer, SomeRefusalsCanBeRemedied) {
  EXPECT_EQ(failure(put(), 403, "RequestTimeTooSkewed").remedy, S3Remedy::kSetClock);
  EXPECT_EQ(meaning(put(), 403, "RequestTimeTooSkewed"), "throttled") << "nothing was done";
  EXPECT_EQ(failure(put(), 400, "ExpiredToken").remedy, S3Remedy::kRenewCredentials);
  EXPECT_EQ(failure(put(), 503, "SlowDown").remedy, S3Remedy::kSlowDown);
  EXPECT_EQ(failure(put(), 503, "").remedy, S3Remedy::kSlowDown);
  EXPECT_EQ(failure(put(), 503, "SlowDown").error.retry_after_ms, 7000);
}

TEST(S3Answer, SuccessIsNoFailure) {
  for (const int status : {200, 204, 206}) {
    HttpResponse answer;
    answer.status = status;
    EXPECT_FALSE(failure_of(put(), answer)) << status;
  }
}

TEST(S3Answer, ReadsTheTimesOfServers) {
  EXPECT_EQ(parse_http_date("Sun, 29 Nov 2026 22:15:24 GMT")->ms, 1795990524000);
  EXPECT_EQ(parse_utc_time("2026-11-29T22:15:24Z")->ms, 1795990524000);
  EXPECT_EQ(parse_utc_time("2026-11-29T22:15:24.123Z")->ms, 1795990524000);
  for (const char* wrong : {"", "tomorrow", "2026-11-29", "2026-11-29T22:15:24+01:00"}) {
    EXPECT_FALSE(parse_http_date(wrong)) << wrong;
    EXPECT_FALSE(parse_utc_time(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace morula
