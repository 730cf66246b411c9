#include "prod/s3/s3_client.hpp"

#include "prod/s3/s3_probe.hpp"
#include "tests/prod/fake_s3.hpp"

namespace morula {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

std::string code_of(const auto& result) {
  return result ? "none" : std::string(to_string(result.error().code));
}

Result<Etag> create(S3ClientBench& bench, S3Store& store, std::string body = "x") {
  return store.put("k", make_blob(std::move(body)), Precondition::if_absent(),
                   bench.within(seconds(5)));
}

/// Gives `answers` to the first requests of `method`, then nothing.
void script(FakeS3& server, const std::string& method, std::deque<HttpResponse> answers) {
  server.before = [method, answers = std::move(answers)](
                      const HttpRequest& request) mutable -> std::optional<HttpResponse> {
    if (request.method != method || answers.empty()) return std::nullopt;
    HttpResponse next = answers.front();
    answers.pop_front();
    return next;
  };
}

TEST(S3Client, PutIsSentOnceWhateverComesBack) {
  struct Case {
    HttpResponse answer;
    const char* error;
  };
  HttpResponse odd_success;  // no ETag
  HttpResponse late_error = s3_error(200, "InternalError");
  late_error.headers.add("ETag", "\"e\"");
  for (const Case& c : {Case{s3_error(500, "InternalError"), "unavailable"},
                        Case{s3_error(503, "SlowDown"), "throttled"},
                        Case{s3_error(409, "ConditionalRequestConflict"), "conflict"},
                        Case{s3_error(403, "RequestTimeTooSkewed"), "throttled"},
                        Case{s3_error(404, "NoSuchKey"), "unavailable"},
                        Case{odd_success, "unavailable"}, Case{late_error, "unavailable"}}) {
    S3ClientBench bench;
    script(bench.server, "PUT", {c.answer});
    bench.run([&](S3Store& store, S3Client&) {
      EXPECT_EQ(code_of(create(bench, store)), c.error) << c.answer.body;
      EXPECT_EQ(bench.server.requests.size(), 1u) << c.answer.body;
    });
  }
}

TEST(S3Client, ReadIsRepeatedUntilItIsAnswered) {
  S3ClientBench bench;
  bench.run([&](S3Store& store, S3Client&) {
    ASSERT_TRUE(create(bench, store, "words"));
    script(bench.server, "GET",
           {s3_error(500, "InternalError"), s3_error(503, "SlowDown"), s3_error(404, ""),
            s3_error(502, "")});
    const auto object = store.get("k", std::nullopt, bench.within(seconds(10)));
    ASSERT_TRUE(object) << object.error().message;
    EXPECT_EQ(*object->body, "words");
    EXPECT_EQ(bench.server.count("GET"), 5u);
  });
}

TEST(S3Client, ReadGivesUpAtItsDeadlineAndWhenTheBudgetIsSpent) {
  S3ClientBench bench;
  bench.config.pace.repeats_burst = 3;
  bench.config.pace.repeats_per_second = 0.001;
  bench.server.before = [](const HttpRequest&) { return s3_error(500, "InternalError"); };
  bench.run([&](S3Store& store, S3Client&) {
    EXPECT_EQ(code_of(store.get("k", std::nullopt, bench.within(milliseconds(5)))), "unavailable");
    EXPECT_EQ(code_of(store.get("k", std::nullopt, bench.within(seconds(30)))), "unavailable");
    EXPECT_LE(bench.server.requests.size(), 5u) << "three repeats in all";
  });
}

TEST(S3Client, CertainRefusalOfAReadIsNotRepeated) {
  S3ClientBench bench;
  bench.server.before = [](const HttpRequest&) { return s3_error(403, "AccessDenied"); };
  bench.run([&](S3Store& store, S3Client&) {
    EXPECT_EQ(code_of(store.get("k", std::nullopt, bench.within(seconds(5)))), "denied");
    EXPECT_EQ(code_of(store.list("", "", 10, bench.within(seconds(5)))), "denied");
    EXPECT_EQ(bench.server.requests.size(), 2u);
  });
}

TEST(S3Client, SignsByTheStoresClockOnceItHasComplained) {
  S3ClientBench bench;
  bench.clock_ahead_ms = 3'600'000;
  const auto is_skewed = [&](const HttpRequest& request) {
    const std::string hour = amz_date(bench.loop.wall()).substr(0, 11);
    return *request.headers.find("X-Amz-Date") > hour + "5959Z";
  };
  bench.server.before = [&](const HttpRequest& request) -> std::optional<HttpResponse> {
    if (is_skewed(request)) return s3_error(403, "RequestTimeTooSkewed");
    return std::nullopt;
  };
  bench.run([&](S3Store& store, S3Client&) {
    EXPECT_EQ(code_of(create(bench, store)), "throttled") << "nothing was done: core repeats it";
    const auto put = create(bench, store);
    EXPECT_TRUE(put) << put.error().message;
  });
}

TEST(S3Client, ExpiredSessionIsFetchedAnew) {
  S3ClientBench bench;
  bench.credentials = {Credentials{"old", "s", "old-token", std::nullopt},
                       Credentials{"new", "s", "new-token", std::nullopt}};
  bench.server.before = [](const HttpRequest& request) -> std::optional<HttpResponse> {
    if (*request.headers.find("X-Amz-Security-Token") == "new-token") return std::nullopt;
    return s3_error(400, "ExpiredToken");
  };
  bench.run([&](S3Store& store, S3Client&) {
    EXPECT_EQ(code_of(create(bench, store)), "throttled") << "nothing was done: core repeats it";
    EXPECT_TRUE(create(bench, store));
    EXPECT_EQ(bench.source->fetched, 2);
  });
}

TEST(S3Client, ListingThatGoesInCirclesIsAnError) {
  S3ClientBench bench;
  HttpResponse page;
  page.body =
      "<ListBucketResult><IsTruncated>true</IsTruncated>"
      "<NextContinuationToken>t</NextContinuationToken></ListBucketResult>";
  bench.server.before = [&](const HttpRequest&) { return page; };
  bench.run([&](S3Store& store, S3Client&) {
    EXPECT_EQ(code_of(store.list("", "", 10, bench.within(seconds(5)))), "corrupt");
    EXPECT_EQ(bench.server.requests.size(), 2u);
  });
}

TEST(S3Client, EmptyPageIsFollowedByTheNext) {
  S3ClientBench bench;
  bench.run([&](S3Store& store, S3Client&) {
    ASSERT_TRUE(create(bench, store));
    HttpResponse page;
    page.body =
        "<ListBucketResult><IsTruncated>true</IsTruncated>"
        "<NextContinuationToken>t</NextContinuationToken></ListBucketResult>";
    script(bench.server, "GET", {page});
    const auto listing = store.list("", "", 10, bench.within(seconds(5)));
    ASSERT_TRUE(listing) << listing.error().message;
    ASSERT_EQ(listing->objects.size(), 1u);
    EXPECT_EQ(listing->objects[0].key, "k");
    EXPECT_NE(bench.server.requests.back().target.find("continuation-token=t&"), std::string::npos);
  });
}

TEST(S3Client, HeadOfAMissingBucketIsNotAbsence) {
  S3ClientBench bench;
  bench.run([&](S3Store& store, S3Client&) {
    EXPECT_EQ(code_of(store.head("k", bench.within(seconds(5)))), "not_found");
    bench.server.before = [](const HttpRequest&) { return s3_error(404, "NoSuchBucket"); };
    EXPECT_EQ(code_of(store.head("k", bench.within(seconds(5)))), "invalid");
  });
}

TEST(S3Client, ErrorOfOneKeyOfADeleteIsTold) {
  S3ClientBench bench;
  HttpResponse answer;
  answer.body = "<DeleteResult><Error><Key>b</Key><Code>AccessDenied</Code></Error></DeleteResult>";
  script(bench.server, "POST", {answer, s3_error(200, "InternalError")});
  bench.run([&](S3Store& store, S3Client&) {
    const std::string keys[] = {"a", "b"};
    EXPECT_EQ(code_of(store.remove_many(keys, bench.within(seconds(5)))), "denied");
    EXPECT_EQ(code_of(store.remove_many(keys, bench.within(seconds(5)))), "unavailable")
        << "200 with an error in it";
    EXPECT_EQ(code_of(store.remove_many(keys, bench.within(seconds(5)))), "none");
  });
}

TEST(S3Client, KeyThatXmlCannotCarryIsRemovedByItself) {
  S3ClientBench bench;
  bench.run([&](S3Store& store, S3Client&) {
    const std::string keys[] = {"a", "b\x01", "c\xff", "d"};
    EXPECT_EQ(code_of(store.remove_many(keys, bench.within(seconds(5)))), "none");
    EXPECT_EQ(bench.server.count("DELETE"), 2u);
    EXPECT_EQ(bench.server.count("POST"), 1u);
    EXPECT_EQ(bench.server.requests.back().body.find('\x01'), std::string::npos);
  });
}

TEST(S3Probe, AcceptsAStoreThatHonoursConditionsAndLearnsItsWays) {
  for (const bool quotes : {true, false}) {
    for (const bool many : {true, false}) {
      S3ClientBench bench;
      bench.server.wants_quotes = quotes;
      bench.server.deletes_many = many;
      bench.server.honours_ranges = many;
      bench.run([&](S3Store& store, S3Client&) {
        const auto probed = probe_s3_store(store, bench.loop, "p");
        ASSERT_TRUE(probed) << probed.error().message;
        EXPECT_EQ(store.traits().quoting, quotes ? EtagQuoting::kQuoted : EtagQuoting::kUnquoted);
        EXPECT_EQ(store.abilities().batch_remove, many);
      });
    }
  }
}

TEST(S3Probe, RefusesAStoreThatIgnoresAConditionOrHidesItsKeys) {
  const auto refuses = [](const std::string& why, const std::function<void(FakeS3&)>& set) {
    S3ClientBench bench;
    set(bench.server);
    bench.run([&](S3Store& store, S3Client&) {
      const auto probed = probe_s3_store(store, bench.loop, "p");
      ASSERT_FALSE(probed) << why;
      EXPECT_NE(probed.error().message.find(why), std::string::npos) << probed.error().message;
    });
  };
  refuses("ignores If-None-Match", [](FakeS3& server) { server.honours_if_none_match = false; });
  refuses("ignores If-Match", [](FakeS3& server) { server.honours_if_match = false; });
  refuses("s3:ListBucket", [](FakeS3& server) { server.lists = false; });
}

}  // namespace
}  // namespace morula
