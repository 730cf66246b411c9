#include "prod/http/http_response.hpp"
#include "prod/s3/aws_profile.hpp"
#include "prod/s3/credential_sources.hpp"
#include "prod/s3/uri.hpp"
#include "tests/prod/directory_fixture.hpp"
#include "tests/prod/fake_s3.hpp"

namespace morula {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

using Variables = std::map<std::string, std::string, std::less<>>;

AwsSettings settings_of(Variables variables) {
  return AwsSettings(
      [variables = std::move(variables)](std::string_view name) -> std::optional<std::string> {
        const auto found = variables.find(name);
        if (found == variables.end() || found->second.empty()) return std::nullopt;
        return found->second;
      });
}

TEST(AwsProfile, SectionsAreReadAsAwsToolsWriteThem) {
  const AwsSections sections = parse_aws_profiles(
      "# a comment\n"
      "[default]\n"
      "aws_access_key_id = AKIA   \r\n"
      "AWS_Secret_Access_Key=a/b+c=#d ; comment\n"
      "s3 =\n"
      "  max_concurrent_requests = 20\n"
      "nonsense\n"
      "\n"
      "[profile \"other one\"]\n"
      "region= eu-west-1\n");
  ASSERT_EQ(sections.size(), 2u);
  EXPECT_EQ(sections.at("default").at("aws_access_key_id"), "AKIA");
  EXPECT_EQ(sections.at("default").at("aws_secret_access_key"), "a/b+c=#d");
  EXPECT_FALSE(sections.at("default").contains("max_concurrent_requests")) << "of a nested section";
  EXPECT_EQ(sections.at("other one").at("region"), "eu-west-1");
}

TEST(AwsSettings, OptionGoesBeforeEnvironmentBeforeProfile) {
  const TemporaryDirectory home;
  home.write_file(".aws/config",
                  "[profile p]\nregion = from-profile\nendpoint_url = http://profile\n");
  Variables variables = {{"HOME", home.path().string()}, {"AWS_PROFILE", "p"}};
  EXPECT_EQ(*settings_of(variables).region(""), "from-profile");
  EXPECT_EQ(settings_of(variables).endpoint_url(""), "http://profile");
  variables["AWS_DEFAULT_REGION"] = "default-region";
  variables["AWS_ENDPOINT_URL"] = "http://all";
  EXPECT_EQ(*settings_of(variables).region(""), "default-region");
  EXPECT_EQ(settings_of(variables).endpoint_url(""), "http://all");
  variables["AWS_REGION"] = "region";
  variables["AWS_ENDPOINT_URL_S3"] = "http://s3";
  EXPECT_EQ(*settings_of(variables).region(""), "region");
  EXPECT_EQ(settings_of(variables).endpoint_url(""), "http://s3");
  EXPECT_EQ(*settings_of(variables).region("option"), "option");
  EXPECT_EQ(settings_of(variables).endpoint_url("http://option"), "http://option");
  EXPECT_FALSE(settings_of({}).region(""));
}

/// A server that answers as `handler`, and what is found and fetched with the given environment.
struct SourceBench {
  Variables variables;
  std::vector<HttpRequest> requests;
  std::string found;  // the source's name, or the error's message

  Result<Credentials> fetch(const Network::Handler& handler) {
    Result<Credentials> fetched = fail(ErrorCode::kInvalid, "not fetched");
    Loop loop;
    LogTrace trace{Severity::kError, LogFormat::kLogfmt};
    loop.run_fiber("test", [&] {
      MemoryBudget memory(MemoryShares{});
      HttpServer server(loop, trace, {}, memory);
      ASSERT_TRUE(server.listen("127.0.0.1", 0));
      const std::string url = "http://127.0.0.1:" + std::to_string(server.port());
      for (auto& [name, value] : variables) {
        if (value.starts_with("URL")) value.replace(0, 3, url);
      }
      CurlClient client(loop, {});
      with_scope(loop.domain(), [&](Scope& scope) {
        server.serve(scope, [&](const HttpRequest& request) {
          requests.push_back(request);
          return handler(request);
        });
        auto source = find_credential_source(settings_of(variables), client, "eu-west-1");
        found = source ? std::string((*source)->name()) : source.error().message;
        if (source) fetched = (*source)->fetch(loop.now() + seconds(5));
        server.stop_serving();
      });
    });
    return fetched;
  }
  Result<Credentials> fetch() {
    return fetch([](const HttpRequest&) { return server_error(500, "x", "nobody asks"); });
  }
};

std::string shown(const Result<Credentials>& c) {
  if (!c) return "<" + std::string(to_string(c.error().code)) + "> " + c.error().message;
  return c->access_key_id + "/" + c->secret_access_key + "/" + c->session_token + "/" +
         (c->expires ? std::to_string(c->expires->ms) : "never");
}

TEST(CredentialSources, EnvironmentComesFirst) {
  SourceBench bench;
  bench.variables = {{"AWS_ACCESS_KEY_ID", "id"},
                     {"AWS_SECRET_ACCESS_KEY", "secret"},
                     {"AWS_SESSION_TOKEN", "token"},
                     {"AWS_WEB_IDENTITY_TOKEN_FILE", "/nowhere"}};
  EXPECT_EQ(shown(bench.fetch()), "id/secret/token/never");
  bench.variables.erase("AWS_SECRET_ACCESS_KEY");
  (void)bench.fetch();
  EXPECT_NE(bench.found.find("AWS_SECRET_ACCESS_KEY is not"), std::string::npos) << bench.found;
}

TEST(CredentialSources, ProfileIsReadFromEitherFile) {
  const TemporaryDirectory home;
  home.write_file(".aws/credentials", "[p]\naws_access_key_id=id\naws_secret_access_key=secret\n");
  SourceBench bench;
  bench.variables = {{"HOME", home.path().string()}, {"AWS_PROFILE", "p"}};
  EXPECT_EQ(shown(bench.fetch()), "id/secret//never");
  EXPECT_EQ(bench.found, "the profile");
  bench.variables["AWS_PROFILE"] = "q";
  (void)bench.fetch();
  EXPECT_NE(bench.found.find("\"q\""), std::string::npos) << bench.found;
  home.write_file(".aws/credentials",
                  "[p]\naws_access_key_id=id\naws_secret_access_key=s\naws_session_token=t\n");
  bench.variables["AWS_PROFILE"] = "p";
  const auto session = bench.fetch();
  ASSERT_TRUE(session);
  EXPECT_TRUE(session->expires) << "a session is looked up again";
}

constexpr const char* kJson = R"({"AccessKeyId":"id","SecretAccessKey":"secret","Token":"token",)"
                              R"("Expiration":"2026-11-29T22:15:24Z","Code":"Success"})";

TEST(CredentialSources, ContainerIsAskedWithItsToken) {
  const TemporaryDirectory files;
  files.write_file("token", "from-file\n");
  SourceBench bench;
  bench.variables = {{"AWS_CONTAINER_CREDENTIALS_FULL_URI", "URL/creds?id=1"},
                     {"AWS_CONTAINER_AUTHORIZATION_TOKEN", "from-variable"}};
  const auto handler = [](const HttpRequest&) {
    HttpResponse answer;
    answer.body = kJson;
    return answer;
  };
  EXPECT_EQ(shown(bench.fetch(handler)), "id/secret/token/1795990524000");
  EXPECT_EQ(bench.requests.back().target, "/creds?id=1");
  EXPECT_EQ(*bench.requests.back().headers.find("Authorization"), "from-variable");
  bench.variables["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = "URL/creds";
  bench.variables["AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"] = files.path() / "token";
  EXPECT_TRUE(bench.fetch(handler));
  EXPECT_EQ(*bench.requests.back().headers.find("Authorization"), "from-file");
}

TEST(CredentialSources, InstanceMetadataIsAskedInItsSecondVersion) {
  SourceBench bench;
  bench.variables = {{"AWS_EC2_METADATA_SERVICE_ENDPOINT", "URL"}};
  const auto handler = [](const HttpRequest& request) {
    HttpResponse answer;
    const auto token = request.headers.find("X-aws-ec2-metadata-token");
    if (request.method == "PUT" && request.target == "/latest/api/token") {
      answer.body = "session";
    } else if (!token || *token != "session") {
      answer.status = 401;
    } else if (request.target == "/latest/meta-data/iam/security-credentials/") {
      answer.body = "my-role\n";
    } else if (request.target == "/latest/meta-data/iam/security-credentials/my-role") {
      answer.body = kJson;
    } else {
      answer.status = 404;
    }
    return answer;
  };
  EXPECT_EQ(shown(bench.fetch(handler)), "id/secret/token/1795990524000");
  bench.variables["AWS_EC2_METADATA_SERVICE_ENDPOINT"] = "URL";
  const auto none = bench.fetch([](const HttpRequest&) { return server_error(404, "x", "y"); });
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::kDenied);
  EXPECT_NE(none.error().message.find("AWS_ACCESS_KEY_ID"), std::string::npos);
  bench.variables = {{"AWS_EC2_METADATA_DISABLED", "true"}};
  (void)bench.fetch();
  EXPECT_NE(bench.found.find("no credentials"), std::string::npos);
}

TEST(CredentialSources, WebIdentityIsExchangedForASession) {
  const TemporaryDirectory files;
  files.write_file("token", "e.y/J=\n");
  SourceBench bench;
  bench.variables = {{"AWS_WEB_IDENTITY_TOKEN_FILE", files.path() / "token"},
                     {"AWS_ROLE_ARN", "arn:aws:iam::1:role/r"},
                     {"AWS_ENDPOINT_URL_STS", "URL"}};
  const auto assumed = bench.fetch([](const HttpRequest&) {
    HttpResponse answer;
    answer.body =
        "<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials>"
        "<AccessKeyId>id</AccessKeyId><SecretAccessKey>secret</SecretAccessKey>"
        "<SessionToken>token</SessionToken><Expiration>2026-11-29T22:15:24Z</Expiration>"
        "</Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>";
    return answer;
  });
  EXPECT_EQ(shown(assumed), "id/secret/token/1795990524000");
  const std::string& body = bench.requests.back().body;
  for (const char* part : {"Action=AssumeRoleWithWebIdentity", "RoleArn=arn%3Aaws%3Aiam%3A%3A1%3A",
                           "WebIdentityToken=e.y%2FJ%3D", "Version=2011-06-15"}) {
    EXPECT_NE(body.find(part), std::string::npos) << body;
  }
  const auto refused = [&](int status, const std::string& code) {
    bench.variables["AWS_ENDPOINT_URL_STS"] = "URL";
    return bench.fetch([&](const HttpRequest&) { return s3_error(status, code); });
  };
  EXPECT_EQ(refused(403, "InvalidIdentityToken").error().code, ErrorCode::kDenied);
  EXPECT_EQ(refused(503, "ServiceUnavailable").error().code, ErrorCode::kUnavailable);
  bench.variables.erase("AWS_ROLE_ARN");
  (void)bench.fetch();
  EXPECT_NE(bench.found.find("AWS_ROLE_ARN"), std::string::npos);
}

Credentials lasting(const Loop& loop, const std::string& id, std::chrono::milliseconds time) {
  return {id, "s", "t", WallTime{loop.wall().ms + time.count()}};
}

/// Runs `body` with a cache of what `script` gives.
void with_cache(Loop& loop, std::deque<Result<Credentials>> script,
                const std::function<void(CredentialCache&, ScriptedSource&)>& body) {
  LogTrace trace{Severity::kError, LogFormat::kLogfmt};
  loop.run_fiber("test", [&] {
    with_scope(loop.domain(), [&](Scope& scope) {
      auto source = std::make_unique<ScriptedSource>(std::move(script));
      ScriptedSource& scripted = *source;
      CredentialCache cache(loop, scope, trace, std::move(source));
      body(cache, scripted);
      scope.close();
    });
  });
}

TEST(CredentialCache, RenewsAheadWhileOthersGoOn) {
  Loop loop;
  with_cache(loop, {lasting(loop, "first", seconds(120)), lasting(loop, "second", seconds(7200))},
             [&](CredentialCache& cache, ScriptedSource& source) {
               EXPECT_EQ(cache.get(kNever)->access_key_id, "first");
               EXPECT_EQ(cache.get(kNever)->access_key_id, "first") << "while it is renewed";
               loop.sleep(milliseconds(5));
               EXPECT_EQ(cache.get(kNever)->access_key_id, "second");
               loop.sleep(milliseconds(5));
               EXPECT_EQ(source.fetched, 2) << "it lasts";
             });
}

TEST(CredentialCache, KeepsWhatHoldsWhenARenewalFails) {
  Loop loop;
  with_cache(loop, {lasting(loop, "first", seconds(120)), fail(ErrorCode::kUnavailable, "down")},
             [&](CredentialCache& cache, ScriptedSource& source) {
               for (int i = 0; i < 10; ++i) {
                 EXPECT_EQ(cache.get(kNever)->access_key_id, "first");
                 loop.sleep(milliseconds(1));
               }
               EXPECT_EQ(source.fetched, 2) << "with pauses between the tries";
             });
}

TEST(CredentialCache, ExpiredOnesAreNotUsed) {
  Loop loop;
  with_cache(loop,
             {lasting(loop, "first", seconds(5)), fail(ErrorCode::kUnavailable, "down"),
              lasting(loop, "second", seconds(7200))},
             [&](CredentialCache& cache, ScriptedSource&) {
               EXPECT_EQ(cache.get(kNever)->access_key_id, "first") << "better than nothing";
               EXPECT_EQ(cache.get(kNever).error().code, ErrorCode::kUnavailable);
               EXPECT_EQ(cache.get(kNever)->access_key_id, "second");
             });
}

}  // namespace
}  // namespace morula
