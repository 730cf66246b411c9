#include "prod/s3/credential_sources.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <ctime>
#include <utility>

#include "core/base/json.hpp"
#include "prod/s3/s3_xml.hpp"
#include "prod/s3/uri.hpp"

namespace morula {
namespace {

using Source = std::unique_ptr<CredentialSource>;

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) {
    text.remove_suffix(1);
  }
  return text;
}

/// "http://host:port" and "/path?query".
struct SplitUrl {
  std::string base;
  std::string target;
};
SplitUrl split_url(const std::string& url) {
  const size_t scheme = url.find("://");
  const size_t path = url.find('/', scheme == std::string::npos ? 0 : scheme + 3);
  if (path == std::string::npos) return {url, "/"};
  return {url.substr(0, path), url.substr(path)};
}

/// The body of a 200; anything else is an error that names the source.
Result<std::string> ask(CurlClient& client, std::string_view source, const std::string& url,
                        HttpRequest request, Time deadline) {
  const SplitUrl split = split_url(url);
  request.target = split.target;
  auto answer = client.call(split.base, request, deadline);
  if (!answer) {
    Error error = std::move(answer).error();
    if (error.code == ErrorCode::kNotFound) error.code = ErrorCode::kUnavailable;
    error.message = fmt::format("no credentials from {}: {}", source, error.message);
    return fail(std::move(error));
  }
  if (answer->status == 200) return std::move(answer->body);
  const auto said = parse_s3_error(answer->body);
  const bool passes = answer->status >= 500 || answer->status == 429;
  return fail(passes ? ErrorCode::kUnavailable : ErrorCode::kDenied,
              fmt::format("no credentials from {}: {} answers {} {}", source, url, answer->status,
                          said ? said->code + " " + said->message : answer->body.substr(0, 200)));
}

/// Credentials in an answer; one that has none may be right the next time.
Result<Credentials> credentials_in(Result<Credentials> parsed, std::string_view source) {
  if (parsed && !parsed->access_key_id.empty() && !parsed->secret_access_key.empty()) return parsed;
  return fail(ErrorCode::kUnavailable,
              fmt::format("no credentials from {}: {}", source,
                          parsed ? "the answer has none" : parsed.error().message));
}

HttpRequest request_of(std::string method) {
  HttpRequest request;
  request.method = std::move(method);
  return request;
}

class EnvironmentSource final : public CredentialSource {
 public:
  explicit EnvironmentSource(AwsSettings settings) : settings_(std::move(settings)) {}
  std::string_view name() const override { return "the environment"; }
  Result<Credentials> fetch(Time) override {
    return Credentials{settings_.variable("AWS_ACCESS_KEY_ID").value_or(""),
                       settings_.variable("AWS_SECRET_ACCESS_KEY").value_or(""),
                       settings_.variable("AWS_SESSION_TOKEN").value_or(""), std::nullopt};
  }

 private:
  AwsSettings settings_;
};

class ProfileSource final : public CredentialSource {
 public:
  // Some tool may write a new session into the file at any time.
  static constexpr int64_t kReadAgainMs = int64_t{15} * 60 * 1000;

  explicit ProfileSource(AwsSettings settings) : settings_(std::move(settings)) {}
  std::string_view name() const override { return "the profile"; }
  Result<Credentials> fetch(Time) override {
    const auto id = settings_.in_profile("aws_access_key_id");
    const auto secret = settings_.in_profile("aws_secret_access_key");
    if (!id || !secret) {
      return fail(ErrorCode::kDenied,
                  fmt::format("the profile \"{}\" has lost its aws_access_key_id or "
                              "aws_secret_access_key",
                              settings_.profile()));
    }
    Credentials credentials{*id, *secret, settings_.in_profile("aws_session_token").value_or(""),
                            std::nullopt};
    if (!credentials.session_token.empty()) {
      credentials.expires = WallTime{int64_t{std::time(nullptr)} * 1000 + kReadAgainMs};
    }
    return credentials;
  }

 private:
  AwsSettings settings_;
};

class ContainerSource final : public CredentialSource {
 public:
  ContainerSource(AwsSettings settings, CurlClient& client, std::string url)
      : settings_(std::move(settings)), client_(client), url_(std::move(url)) {}
  std::string_view name() const override { return "the container's endpoint"; }
  Result<Credentials> fetch(Time deadline) override {
    HttpRequest request = request_of("GET");
    std::string token = settings_.variable("AWS_CONTAINER_AUTHORIZATION_TOKEN").value_or("");
    // Preferred, and read each time: it is rotated.
    if (const auto file = settings_.variable("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE")) {
      const auto text = read_text_file(*file);
      if (!text) return fail(ErrorCode::kUnavailable, "cannot read " + *file);
      token = trimmed(*text);
    }
    if (!token.empty()) request.headers.add("Authorization", token);
    const auto body = ask(client_, name(), url_, std::move(request), deadline);
    MORULA_TRY(body);
    return credentials_in(parse_credentials_json(*body), name());
  }

 private:
  AwsSettings settings_;
  CurlClient& client_;
  std::string url_;
};

class MetadataSource final : public CredentialSource {
 public:
  MetadataSource(CurlClient& client, std::string base) : client_(client), base_(std::move(base)) {}
  std::string_view name() const override { return "the instance's metadata"; }
  Result<Credentials> fetch(Time deadline) override {
    HttpRequest for_token = request_of("PUT");
    for_token.headers.add("X-aws-ec2-metadata-token-ttl-seconds", "300");
    const auto token =
        ask(client_, name(), base_ + "/latest/api/token", std::move(for_token), deadline);
    if (!token) return unless_elsewhere(token.error());
    const auto get = [&](const std::string& path) {
      HttpRequest request = request_of("GET");
      request.headers.add("X-aws-ec2-metadata-token", *token);
      return ask(client_, name(), base_ + "/latest/meta-data/iam/security-credentials/" + path,
                 std::move(request), deadline);
    };
    const auto roles = get("");
    MORULA_TRY(roles);
    const std::string role(trimmed(std::string_view(*roles).substr(0, roles->find('\n'))));
    if (role.empty()) return fail(ErrorCode::kDenied, "this machine has no instance role");
    const auto body = get(encode_path(role));
    MORULA_TRY(body);
    return credentials_in(parse_credentials_json(*body), name());
  }

 private:
  static tl::unexpected<Error> unless_elsewhere(Error error) {
    error.message +=
        "; elsewhere than on EC2, set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY or AWS_PROFILE";
    return fail(std::move(error));
  }

  CurlClient& client_;
  std::string base_;
};

class WebIdentitySource final : public CredentialSource {
 public:
  WebIdentitySource(AwsSettings settings, CurlClient& client, std::string url)
      : settings_(std::move(settings)), client_(client), url_(std::move(url)) {}
  std::string_view name() const override { return "web identity"; }
  Result<Credentials> fetch(Time deadline) override {
    const std::string file = settings_.variable("AWS_WEB_IDENTITY_TOKEN_FILE").value_or("");
    const auto token = read_text_file(file);
    if (!token) return fail(ErrorCode::kUnavailable, "web identity: cannot read " + file);
    HttpRequest request = request_of("POST");
    request.headers.add("Content-Type", "application/x-www-form-urlencoded");
    request.body = encode_query(
        {{"Action", "AssumeRoleWithWebIdentity"},
         {"Version", "2011-06-15"},
         {"RoleArn", settings_.variable("AWS_ROLE_ARN").value_or("")},
         {"RoleSessionName", settings_.variable("AWS_ROLE_SESSION_NAME").value_or("morula")},
         {"WebIdentityToken", std::string(trimmed(*token))}});
    const auto body = ask(client_, name(), url_, std::move(request), deadline);
    MORULA_TRY(body);
    return credentials_in(parse_assumed_role(*body), name());
  }

 private:
  AwsSettings settings_;
  CurlClient& client_;
  std::string url_;
};

std::string sts_url(const AwsSettings& settings, const std::string& region) {
  if (const auto url = settings.variable("AWS_ENDPOINT_URL_STS")) return *url;
  return fmt::format("https://sts.{}.amazonaws.com{}", region,
                     region.starts_with("cn-") ? ".cn" : "");
}

}  // namespace

Result<std::unique_ptr<CredentialSource>> find_credential_source(const AwsSettings& settings,
                                                                 CurlClient& client,
                                                                 const std::string& region) {
  const bool id = settings.variable("AWS_ACCESS_KEY_ID").has_value();
  const bool secret = settings.variable("AWS_SECRET_ACCESS_KEY").has_value();
  if (id != secret) {
    return fail(ErrorCode::kInvalid,
                fmt::format("{} is set and {} is not: set both",
                            id ? "AWS_ACCESS_KEY_ID" : "AWS_SECRET_ACCESS_KEY",
                            id ? "AWS_SECRET_ACCESS_KEY" : "AWS_ACCESS_KEY_ID"));
  }
  if (id) return Source(std::make_unique<EnvironmentSource>(settings));
  if (settings.variable("AWS_WEB_IDENTITY_TOKEN_FILE")) {
    if (!settings.variable("AWS_ROLE_ARN")) {
      return fail(ErrorCode::kInvalid,
                  "AWS_WEB_IDENTITY_TOKEN_FILE is set and AWS_ROLE_ARN is not: set both");
    }
    return Source(std::make_unique<WebIdentitySource>(settings, client, sts_url(settings, region)));
  }
  if (settings.in_profile("aws_access_key_id")) {
    return Source(std::make_unique<ProfileSource>(settings));
  }
  if (settings.variable("AWS_PROFILE")) {
    return fail(ErrorCode::kInvalid,
                fmt::format("AWS_PROFILE is \"{}\", and no such profile has an aws_access_key_id "
                            "(roles, sso and processes of profiles are not supported)",
                            settings.profile()));
  }
  if (const auto path = settings.variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI")) {
    return Source(
        std::make_unique<ContainerSource>(settings, client, "http://169.254.170.2" + *path));
  }
  if (const auto url = settings.variable("AWS_CONTAINER_CREDENTIALS_FULL_URI")) {
    return Source(std::make_unique<ContainerSource>(settings, client, *url));
  }
  if (settings.variable("AWS_EC2_METADATA_DISABLED").value_or("") == "true") {
    return fail(ErrorCode::kDenied,
                "no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE");
  }
  return Source(std::make_unique<MetadataSource>(
      client,
      settings.variable("AWS_EC2_METADATA_SERVICE_ENDPOINT").value_or("http://169.254.169.254")));
}

Result<Credentials> parse_credentials_json(std::string_view text) {
  const auto json = Json::parse(text);
  MORULA_TRY(json);
  const auto id = json->string_at("AccessKeyId");
  MORULA_TRY(id);
  const auto secret = json->string_at("SecretAccessKey");
  MORULA_TRY(secret);
  Credentials credentials{*id, *secret, {}, std::nullopt};
  if (const auto token = json->string_at("Token")) credentials.session_token = *token;
  if (const auto expires = json->string_at("Expiration")) {
    credentials.expires = parse_utc_time(*expires);
  }
  return credentials;
}

std::optional<WallTime> parse_utc_time(std::string_view text) {
  const std::string copy(text);
  tm utc{};
  int end = 0;
  if (std::sscanf(copy.c_str(), "%4d-%2d-%2dT%2d:%2d:%2d%n", &utc.tm_year, &utc.tm_mon,
                  &utc.tm_mday, &utc.tm_hour, &utc.tm_min, &utc.tm_sec, &end) != 6 ||
      copy.back() != 'Z') {
    return std::nullopt;
  }
  utc.tm_year -= 1900;
  utc.tm_mon -= 1;
  return WallTime{static_cast<int64_t>(::timegm(&utc)) * 1000};
}

}  // namespace morula
