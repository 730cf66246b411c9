#include "prod/s3/signer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <utility>
#include <vector>

#include "prod/s3/digest.hpp"

namespace morula {
namespace {

constexpr std::string_view kAlgorithm = "AWS4-HMAC-SHA256";

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  }
  return out;
}

/// Without blanks around it, and with one for each run of blanks within.
std::string collapsed(std::string_view value) {
  std::string out;
  for (const char c : value) {
    const bool blank = c == ' ' || c == '\t';
    if (blank && (out.empty() || out.back() == ' ')) continue;
    out.push_back(blank ? ' ' : c);
  }
  if (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

struct CanonicalHeaders {
  std::string lines;  // "host:x\nrange:y\n"
  std::string names;  // "host;range"
};

CanonicalHeaders canonical_headers(const HttpRequest& request, std::string_view host) {
  std::vector<std::pair<std::string, std::string>> sorted;
  sorted.emplace_back("host", host);
  for (const auto [name, value] : request.headers) {
    sorted.emplace_back(lower(name), collapsed(value));
  }
  std::sort(sorted.begin(), sorted.end());
  CanonicalHeaders made;
  for (const auto& [name, value] : sorted) {
    made.lines.append(name).append(":").append(value).append("\n");
    made.names.append(made.names.empty() ? "" : ";").append(name);
  }
  return made;
}

}  // namespace

std::string amz_date(WallTime wall) {
  const auto seconds = static_cast<time_t>(wall.ms / 1000);
  tm utc{};
  ::gmtime_r(&seconds, &utc);
  return fmt::format("{:04}{:02}{:02}T{:02}{:02}{:02}Z", utc.tm_year + 1900, utc.tm_mon + 1,
                     utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec);
}

void sign_request(HttpRequest& request, std::string_view host, std::string_view body_sha256,
                  const SigningScope& scope, const Credentials& credentials, WallTime now) {
  const std::string date_time = amz_date(now);
  const std::string date = date_time.substr(0, 8);
  request.headers.add("X-Amz-Date", date_time);
  request.headers.add("X-Amz-Content-Sha256", std::string(body_sha256));
  if (!credentials.session_token.empty()) {
    request.headers.add("X-Amz-Security-Token", credentials.session_token);
  }
  const CanonicalHeaders headers = canonical_headers(request, host);
  const std::string_view target = request.target;
  const size_t question = target.find('?');
  const std::string_view path = target.substr(0, question);
  const std::string_view query =
      question == std::string_view::npos ? std::string_view() : target.substr(question + 1);
  const std::string canonical = fmt::format("{}\n{}\n{}\n{}\n{}\n{}", request.method, path, query,
                                            headers.lines, headers.names, body_sha256);

  const std::string where = fmt::format("{}/{}/{}/aws4_request", date, scope.region, scope.service);
  const std::string to_sign =
      fmt::format("{}\n{}\n{}\n{}", kAlgorithm, date_time, where, sha256_hex(canonical));
  std::string key = "AWS4" + credentials.secret_access_key;
  for (const std::string_view part :
       {std::string_view(date), std::string_view(scope.region), std::string_view(scope.service),
        std::string_view("aws4_request")}) {
    key = hmac_sha256(key, part);
  }
  request.headers.add(
      "Authorization",
      fmt::format("{} Credential={}/{}, SignedHeaders={}, Signature={}", kAlgorithm,
                  credentials.access_key_id, where, headers.names, hex(hmac_sha256(key, to_sign))));
}

}  // namespace morula
