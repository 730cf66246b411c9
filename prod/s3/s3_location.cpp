#include "prod/s3/s3_location.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "prod/s3/uri.hpp"

namespace morula {
namespace {

bool is_bucket_character(char c) {
  // Capitals and "_" only in old buckets of some stores; they can't be part of a host's name.
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || c == '-' ||
         c == '.' || c == '_';
}

bool is_bucket_name(std::string_view name) {
  return name.size() >= 3 && name.size() <= 63 &&
         std::all_of(name.begin(), name.end(), is_bucket_character) && name.front() != '.' &&
         name.front() != '-';
}

}  // namespace

std::string S3Location::text() const {
  return "s3://" + bucket + (prefix.empty() ? "" : "/" + prefix.substr(0, prefix.size() - 1));
}

Result<S3Location> parse_s3_location(std::string_view text) {
  constexpr std::string_view kScheme = "s3://";
  const auto wrong = [&](std::string_view why) {
    return fail(
        ErrorCode::kInvalid,
        fmt::format("--store \"{}\": {}; write s3://BUCKET or s3://BUCKET/PREFIX", text, why));
  };
  if (!text.starts_with(kScheme)) return wrong("no s3:// at its start");
  std::string_view rest = text.substr(kScheme.size());
  const size_t slash = rest.find('/');
  S3Location location;
  location.bucket = rest.substr(0, slash);
  if (!is_bucket_name(location.bucket)) {
    return wrong("a bucket's name has 3 to 63 of a-z, 0-9, . and -");
  }
  std::string_view prefix =
      slash == std::string_view::npos ? std::string_view() : rest.substr(slash + 1);
  while (prefix.ends_with('/')) prefix.remove_suffix(1);
  if (prefix.starts_with('/') || prefix.find("//") != std::string_view::npos) {
    return wrong("the prefix has an empty part");
  }
  if (!prefix.empty()) location.prefix = std::string(prefix) + "/";
  return location;
}

Result<S3Addressing> parse_s3_addressing(std::string_view text) {
  if (text == "auto") return S3Addressing::kAuto;
  if (text == "path") return S3Addressing::kPath;
  if (text == "virtual-host") return S3Addressing::kVirtualHost;
  return fail(ErrorCode::kInvalid,
              fmt::format("--s3-addressing \"{}\": write auto, path or virtual-host", text));
}

Result<S3Endpoint> resolve_s3_endpoint(std::string_view url, std::string_view region,
                                       std::string_view bucket, S3Addressing addressing) {
  std::string aws;
  const bool at_aws = url.empty();
  if (at_aws) {
    aws = fmt::format("https://s3.{}.amazonaws.com{}", region,
                      region.starts_with("cn-") ? ".cn" : "");
    url = aws;
  }
  while (url.ends_with('/')) url.remove_suffix(1);
  const bool tls = url.starts_with("https://");
  if (!tls && !url.starts_with("http://")) {
    return fail(ErrorCode::kInvalid,
                fmt::format("the endpoint \"{}\" is no URL; write https://HOST:PORT", url));
  }
  const std::string scheme(tls ? "https://" : "http://");
  std::string host(url.substr(scheme.size()));
  if (host.empty() || host.find_first_of("/?#@ ") != std::string::npos) {
    return fail(
        ErrorCode::kInvalid,
        fmt::format("the endpoint \"{}\" has more than a host; write {}HOST:PORT", url, scheme));
  }
  const std::string own_port = tls ? ":443" : ":80";
  if (host.ends_with(own_port)) host.resize(host.size() - own_port.size());
  const bool dotted = bucket.find('.') != std::string_view::npos;
  if (addressing == S3Addressing::kAuto) {
    addressing = at_aws && !dotted ? S3Addressing::kVirtualHost : S3Addressing::kPath;
  }
  if (addressing == S3Addressing::kVirtualHost) {
    host = std::string(bucket) + "." + host;
    return S3Endpoint{scheme + host, host, "/"};
  }
  return S3Endpoint{scheme + host, host, "/" + encode_path(bucket) + "/"};
}

}  // namespace morula
