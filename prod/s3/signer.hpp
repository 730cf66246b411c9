// Signatures of S3 requests, AWS Signature Version 4.
//
// Why not libcurl's own (CURLOPT_AWS_SIGV4): it signs the path of the URL and not
// CURLOPT_REQUEST_TARGET, by which our client sends keys byte for byte (a key may hold "//" and
// ".."); how it writes path, query and header values canonically differs between Debian 12's 7.88
// and Ubuntu 24.04's 8.5; and it can't be held against AWS's published examples without a server.
//
// All headers of the request are signed, the conditions of a put too: whoever drops one on the way
// makes the store refuse the request instead of carrying it out without.
#pragma once

#include <string>
#include <string_view>

#include "core/base/units.hpp"
#include "core/rt/network.hpp"
#include "prod/s3/credentials.hpp"

namespace morula {

struct SigningScope {
  std::string region;
  std::string service = "s3";
};

/// Adds X-Amz-Date, X-Amz-Content-Sha256, X-Amz-Security-Token and Authorization to a request that
/// has none of them. The target must be encoded as prod/s3/uri.hpp does it. `host`: what curl will
/// send. `now`: the store's time, as far as we know it.
void sign_request(HttpRequest& request, std::string_view host, std::string_view body_sha256,
                  const SigningScope& scope, const Credentials& credentials, WallTime now);

/// "20261129T221524Z"
std::string amz_date(WallTime wall);

}  // namespace morula
