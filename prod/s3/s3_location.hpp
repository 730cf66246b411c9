// From `s3://bucket/prefix` and a few options to the URL that requests go to.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace morula {

struct S3Location {
  std::string bucket;
  std::string prefix;  // of every key: empty, or ends with "/"

  /// "s3://bucket/prefix"
  std::string text() const;
};

/// kInvalid, with what is allowed, for anything but s3://bucket and s3://bucket/prefix.
Result<S3Location> parse_s3_location(std::string_view text);

/// Whether the bucket is named in the path or in the host's name. Auto: in the host's name at AWS
/// (unless it has a dot, which no certificate covers), in the path elsewhere.
enum class S3Addressing : uint8_t { kAuto, kPath, kVirtualHost };
Result<S3Addressing> parse_s3_addressing(std::string_view text);

struct S3Endpoint {
  std::string base;  // "https://host:port", for CurlClient
  std::string host;  // as the Host header has it: without the scheme's own port
  std::string path;  // before a key: "/", or "/bucket/"
};

/// `url`: "https://host:port"; empty: AWS in that region. kInvalid says what is allowed.
Result<S3Endpoint> resolve_s3_endpoint(std::string_view url, std::string_view region,
                                       std::string_view bucket, S3Addressing addressing);

}  // namespace morula
