#include "prod/s3/s3_request.hpp"

#include <limits>
#include <utility>
#include <vector>

#include "prod/s3/digest.hpp"
#include "prod/s3/s3_xml.hpp"
#include "prod/s3/uri.hpp"

namespace morula {
namespace {

constexpr std::string_view kEmptySha256 =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

std::string_view unquoted(std::string_view etag) {
  if (etag.size() >= 2 && etag.front() == '"' && etag.back() == '"') {
    return etag.substr(1, etag.size() - 2);
  }
  return etag;
}

/// "bytes=3-6"; the last byte is cut at the largest number there is.
std::string range_header(const ByteRange& range) {
  constexpr uint64_t kLast = std::numeric_limits<int64_t>::max();
  const uint64_t last =
      range.length - 1 > kLast - range.offset ? kLast : range.offset + range.length - 1;
  return "bytes=" + std::to_string(range.offset) + "-" + std::to_string(last);
}

}  // namespace

std::string quoted_as(EtagQuoting quoting, std::string_view etag) {
  const std::string bare(unquoted(etag));
  return quoting == EtagQuoting::kQuoted ? "\"" + bare + "\"" : bare;
}

S3Request S3Requests::on_object(std::string_view method, std::string_view key) const {
  S3Request request;
  const std::string whole = location_.prefix + std::string(key);
  request.http.method = method;
  request.http.target = path_ + encode_path(whole);
  request.body = make_blob({});
  request.body_sha256 = kEmptySha256;
  request.what = std::string(method) + " s3://" + location_.bucket + "/" + whole;
  return request;
}

S3Request S3Requests::get(std::string_view key, std::optional<ByteRange> range) const {
  S3Request request = on_object("GET", key);
  if (range) request.http.headers.add("Range", range_header(*range));
  return request;
}

S3Request S3Requests::head(std::string_view key) const {
  return on_object("HEAD", key);
}

S3Request S3Requests::put(std::string_view key, Blob body, const Precondition& precondition,
                          EtagQuoting quoting) const {
  S3Request request = on_object("PUT", key);
  request.body_sha256 = sha256_hex(*body);
  request.body = std::move(body);
  request.changes = true;
  request.http.headers.add("Content-Type", "application/octet-stream");
  switch (precondition.kind) {
    case Precondition::Kind::kNone:
      break;
    case Precondition::Kind::kIfAbsent:
      // Bare: in quotes it would be an etag like any other.
      request.http.headers.add("If-None-Match", "*");
      break;
    case Precondition::Kind::kIfMatch:
      request.http.headers.add("If-Match", quoted_as(quoting, precondition.etag));
      break;
  }
  return request;
}

S3Request S3Requests::remove(std::string_view key) const {
  S3Request request = on_object("DELETE", key);
  request.changes = true;
  return request;
}

S3Request S3Requests::remove_many(std::span<const std::string> keys) const {
  S3Request request = on_object("POST", "");
  std::vector<std::string> whole;
  whole.reserve(keys.size());
  for (const std::string& key : keys) whole.push_back(location_.prefix + key);
  request.http.target = path_ + "?" + encode_query({{"delete", ""}});
  request.body = make_blob(delete_body(whole));
  request.body_sha256 = sha256_hex(*request.body);
  request.what = "delete of " + std::to_string(keys.size()) + " keys of " + location_.text();
  request.changes = true;
  request.http.headers.add("Content-Type", "application/xml");
  const std::string md5 = md5_base64(*request.body);
  if (!md5.empty()) request.http.headers.add("Content-MD5", md5);
  return request;
}

S3Request S3Requests::list(std::string_view prefix, std::string_view start_after, size_t limit,
                           std::string_view token) const {
  const std::string whole = location_.prefix + std::string(prefix);
  std::vector<std::pair<std::string, std::string>> parameters = {
      {"list-type", "2"},
      {"encoding-type", "url"},
      {"max-keys", std::to_string(limit)},
      {"prefix", whole}};
  if (!token.empty()) {
    parameters.emplace_back("continuation-token", token);
  } else if (!start_after.empty()) {
    parameters.emplace_back("start-after", location_.prefix + std::string(start_after));
  }
  S3Request request = on_object("GET", "");
  request.http.target = path_ + "?" + encode_query(std::move(parameters));
  request.what = "list of s3://" + location_.bucket + "/" + whole;
  return request;
}

S3Request S3Requests::versioning() const {
  S3Request request = on_object("GET", "");
  request.http.target = path_ + "?" + encode_query({{"versioning", ""}});
  request.what = "look at the versioning of s3://" + location_.bucket;
  return request;
}

}  // namespace morula
