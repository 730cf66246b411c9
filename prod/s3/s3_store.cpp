#include "prod/s3/s3_store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <utility>
#include <vector>

#include "prod/s3/s3_range.hpp"
#include "prod/s3/s3_xml.hpp"

namespace morula {
namespace {

constexpr size_t kRemoveMax = 1000;

/// An answer of success that can't be one: perhaps it was carried out.
tl::unexpected<Error> odd(const S3Request& request, std::string_view why) {
  return fail(ErrorCode::kUnavailable, fmt::format("{}: {}", request.what, why));
}

Result<Etag> etag_in(const S3Request& request, const HttpResponse& answer) {
  const auto etag = answer.headers.find("ETag");
  if (!etag || etag->empty()) return odd(request, "the answer has no ETag");
  return Etag(*etag);
}

/// False for what XML 1.0 can't carry in any way, or only as good UTF-8: keys of ours are ASCII.
bool fits_xml(const std::string& key) {
  return std::none_of(key.begin(), key.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte > 0x7e;
  });
}

}  // namespace

S3Store::S3Store(S3Client& client, S3Requests requests, S3Traits traits)
    : client_(client), requests_(std::move(requests)), traits_(traits) {}

StoreAbilities S3Store::abilities() const {
  return {.ranges = true, .batch_remove = traits_.batch_remove};
}

Result<StoredObject> S3Store::get(std::string_view key, std::optional<ByteRange> range,
                                  const RequestOptions& options) {
  if (range) return get_range(key, *range, options);
  const S3Request request = requests_.get(key, std::nullopt);
  auto answer = client_.send(request, options);
  if (!answer) return fail(std::move(answer).error().error);
  if (answer->status != 200) return odd(request, "the answer is not of the whole object");
  auto etag = etag_in(request, *answer);
  MORULA_TRY(etag);
  // A body that is shorter than its Content-Length is an error of the transfer already; one whose
  // end nothing tells can't be trusted.
  if (!is_delimited(*answer)) return odd(request, "the answer does not say how long it is");
  return StoredObject{make_blob(std::move(answer->body)), std::move(*etag)};
}

Result<StoredObject> S3Store::get_range(std::string_view key, const ByteRange& range,
                                        const RequestOptions& options) {
  if (range.length == 0) return get_range_of_empty(key, range, options);
  const S3Request request = requests_.get(key, range);
  auto answer = client_.send(request, options);
  if (!answer) {
    // Of an empty object every range is refused, also one from its start.
    if (answer.error().status == 416 && range.offset == 0) {
      return get_range_of_empty(key, range, options);
    }
    return fail(std::move(answer).error().error);
  }
  auto etag = etag_in(request, *answer);
  MORULA_TRY(etag);
  auto body = body_of_range(std::move(*answer), range);
  if (!body) {
    Error error = std::move(body).error();
    error.message = request.what + ": " + error.message;
    return fail(std::move(error));
  }
  return StoredObject{make_blob(std::move(*body)), std::move(*etag)};
}

Result<StoredObject> S3Store::get_range_of_empty(std::string_view key, const ByteRange& range,
                                                 const RequestOptions& options) {
  auto whole = get(key, std::nullopt, options);
  MORULA_TRY(whole);
  if (range.offset > whole->body->size()) {
    return fail(ErrorCode::kInvalid, fmt::format("{}: the range begins past the end", key));
  }
  whole->body = make_blob(whole->body->substr(range.offset, range.length));
  return whole;
}

Result<ObjectInfo> S3Store::head(std::string_view key, const RequestOptions& options) {
  const S3Request request = requests_.head(key);
  auto answer = client_.send(request, options);
  if (!answer) {
    // 404 to a HEAD may be a missing bucket: a GET has words for it.
    if (answer.error().status == 404) {
      auto asked = get_range(key, {0, 1}, options);
      MORULA_TRY(asked);
      return fail(ErrorCode::kUnavailable, request.what + ": it is absent, then it is not");
    }
    return fail(std::move(answer).error().error);
  }
  const auto length = content_length(*answer);
  if (!length) return odd(request, "the answer has no Content-Length");
  const auto etag = answer->headers.find("ETag");
  return ObjectInfo{std::string(key), *length, Etag(etag.value_or("")), std::nullopt};
}

Result<Etag> S3Store::put(std::string_view key, Blob body, const Precondition& precondition,
                          const RequestOptions& options) {
  const S3Request request = requests_.put(key, std::move(body), precondition, traits_.quoting);
  auto answer = client_.send(request, options);
  if (answer) {
    // Some answer 200 first and find the error later.
    if (const auto error = parse_s3_error(answer->body))
      return odd(request, "200, but " + error->code);
    return etag_in(request, *answer);
  }
  S3Failure failure = std::move(answer).error();
  ErrorCode& code = failure.error.code;
  const bool swaps = precondition.kind == Precondition::Kind::kIfMatch;
  const bool unconditional = precondition.kind == Precondition::Kind::kNone;
  // These make no sense as an answer, so who knows.
  if (code == ErrorCode::kNotFound && !swaps) code = ErrorCode::kUnavailable;
  if (code == ErrorCode::kPreconditionFailed && unconditional) code = ErrorCode::kUnavailable;
  if (code == ErrorCode::kPreconditionFailed && swaps && traits_.absent_is_412) {
    const auto there = head(key, options);
    if (!there && there.error().code == ErrorCode::kNotFound) code = ErrorCode::kNotFound;
  }
  return fail(std::move(failure.error));
}

Result<bool> S3Store::keeps_old_versions(const RequestOptions& options) {
  auto answer = client_.send(requests_.versioning(), options);
  if (!answer) return fail(std::move(answer).error().error);
  return parse_versioning_enabled(answer->body);
}

Result<> S3Store::remove(std::string_view key, const RequestOptions& options) {
  auto answer = client_.send(requests_.remove(key), options);
  if (answer || answer.error().error.code == ErrorCode::kNotFound) return {};
  return fail(std::move(answer).error().error);
}

Result<> S3Store::remove_many(std::span<const std::string> keys, const RequestOptions& options) {
  if (keys.size() > kRemoveMax) return fail(ErrorCode::kInvalid, "more than 1000 keys");
  std::vector<std::string> together;
  for (const std::string& key : keys) {
    if (traits_.batch_remove && fits_xml(key)) {
      together.push_back(key);
    } else {
      MORULA_TRY(remove(key, options));
    }
  }
  if (together.empty()) return {};
  auto answer = client_.send(requests_.remove_many(together), options);
  if (!answer) return fail(std::move(answer).error().error);
  const auto failures = parse_delete_result(answer->body);
  MORULA_TRY(failures);
  if (!failures->empty()) return fail(delete_failure(failures->front()));
  return {};
}

Result<Listing> S3Store::list(std::string_view prefix, std::string_view start_after, size_t limit,
                              const RequestOptions& options) {
  Listing listing;
  const std::string& own = requests_.location().prefix;
  std::set<std::string> tokens;
  std::string token;
  for (;;) {
    const S3Request request = requests_.list(prefix, start_after, limit, token);
    auto answer = client_.send(request, options);
    if (!answer) return fail(std::move(answer).error().error);
    auto page = parse_s3_page(answer->body);
    if (!page) return odd(request, page.error().message);
    for (ObjectInfo& object : page->objects) {
      if (!object.key.starts_with(own)) {
        return fail(ErrorCode::kCorrupt, request.what + ": shows " + object.key);
      }
      object.key.erase(0, own.size());
      listing.objects.push_back(std::move(object));
    }
    listing.truncated = page->truncated;
    // A page may be empty and yet not the last (all that it would have shown is gone).
    if (!page->truncated || !listing.objects.empty()) return listing;
    token = std::move(page->next_token);
    if (token.empty() || !tokens.insert(token).second) {
      return fail(ErrorCode::kCorrupt, request.what + ": the listing goes round in circles");
    }
  }
}

}  // namespace morula
