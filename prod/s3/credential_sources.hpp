// Where credentials may come from, in the order in which they are looked for:
//
//   1. the environment: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN
//   2. web identity: AWS_WEB_IDENTITY_TOKEN_FILE and AWS_ROLE_ARN, exchanged at STS
//   3. the profile (AWS_PROFILE) in ~/.aws/credentials or ~/.aws/config
//   4. the container's endpoint: AWS_CONTAINER_CREDENTIALS_RELATIVE_URI or _FULL_URI
//   5. the instance's metadata, version 2 (unless AWS_EC2_METADATA_DISABLED)
//
// The first that is configured is the one; files and endpoints are read anew for each renewal.
#pragma once

#include <memory>
#include <string>

#include "prod/http/curl_client.hpp"
#include "prod/s3/aws_settings.hpp"
#include "prod/s3/credentials.hpp"

namespace morula {

/// The source that this machine is configured for. `client` is used until the source is gone.
/// kInvalid when something is configured by half.
Result<std::unique_ptr<CredentialSource>> find_credential_source(const AwsSettings& settings,
                                                                 CurlClient& client,
                                                                 const std::string& region);

/// What the container's endpoint and the instance's metadata answer.
Result<Credentials> parse_credentials_json(std::string_view text);

}  // namespace morula
