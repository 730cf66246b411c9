// The XML that S3 speaks: what it answers, and the one body that we send.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/rt/store.hpp"
#include "prod/s3/credentials.hpp"

namespace morula {

/// What an <Error> says. Empty strings where it does not.
struct S3ErrorBody {
  std::string code;
  std::string message;
  std::string region;
};

/// nullopt when `text` is no <Error> (a proxy's page, nothing at all).
std::optional<S3ErrorBody> parse_s3_error(std::string_view text);

/// One page of ListObjectsV2: whole keys, decoded.
struct S3Page {
  std::vector<ObjectInfo> objects;
  bool truncated = false;
  std::string next_token;  // set when truncated
};

/// kUnavailable when `text` is no such page (200 with an error in it, a cut body).
Result<S3Page> parse_s3_page(std::string_view text);

/// The body that deletes `keys` at once; only what fails is to be told.
std::string delete_body(std::span<const std::string> keys);

struct S3DeleteFailure {
  std::string key;
  S3ErrorBody error;
};

/// What could not be deleted (an absent key can). kUnavailable when `text` is no such answer.
Result<std::vector<S3DeleteFailure>> parse_delete_result(std::string_view text);

/// True when the bucket keeps old versions.
bool parse_versioning_enabled(std::string_view text);

/// What STS answers to AssumeRoleWithWebIdentity. kUnavailable when it is no such answer.
Result<Credentials> parse_assumed_role(std::string_view text);

}  // namespace morula
