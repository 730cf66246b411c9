// Requests as S3 wants them, unsigned: prod/s3/s3_client.hpp signs each attempt.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/base/bytes.hpp"
#include "core/rt/network.hpp"
#include "core/rt/store.hpp"
#include "prod/s3/s3_location.hpp"

namespace morula {

struct S3Request {
  HttpRequest http;  // its body is empty: `body` is sent
  Blob body;
  std::string body_sha256;  // hex
  std::string what;         // for messages: "PUT s3://bucket/prefix/key"
  bool changes = false;     // a put or a delete: never repeated by the client
};

/// How a store wants the etag of If-Match; learned at start (prod/s3/s3_probe.hpp).
enum class EtagQuoting : uint8_t { kQuoted, kUnquoted };

/// `etag` as the store gave it, quoted or not, as it wants it back.
std::string quoted_as(EtagQuoting quoting, std::string_view etag);

/// Makes requests for one bucket and prefix.
class S3Requests {
 public:
  S3Requests(S3Location location, std::string path)
      : location_(std::move(location)), path_(std::move(path)) {}

  S3Request get(std::string_view key, std::optional<ByteRange> range) const;
  S3Request head(std::string_view key) const;
  S3Request put(std::string_view key, Blob body, const Precondition& precondition,
                EtagQuoting quoting) const;
  S3Request remove(std::string_view key) const;
  /// Keys without characters that XML can't carry.
  S3Request remove_many(std::span<const std::string> keys) const;
  /// `token`: from the page before; empty for the first page.
  S3Request list(std::string_view prefix, std::string_view start_after, size_t limit,
                 std::string_view token) const;
  S3Request versioning() const;

  const S3Location& location() const { return location_; }

 private:
  S3Request on_object(std::string_view method, std::string_view key) const;

  S3Location location_;
  std::string path_;  // as S3Endpoint has it
};

}  // namespace morula
