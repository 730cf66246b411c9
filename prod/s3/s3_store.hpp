// The Store in a bucket of S3, or of what speaks like it. What is demanded of such a store, and
// what was seen of some: prod/s3/S3.md.
#pragma once

#include <memory>
#include <string>

#include "core/rt/store.hpp"
#include "prod/s3/s3_client.hpp"
#include "prod/s3/s3_request.hpp"

namespace morula {

/// What differs between stores; found out at start (prod/s3/s3_probe.hpp).
struct S3Traits {
  EtagQuoting quoting = EtagQuoting::kQuoted;
  bool batch_remove = true;
  // If-match on an absent key is 412 and not 404: a failed swap asks once more which it was.
  bool absent_is_412 = true;
};

/// A conditional put is sent once, and told as it was answered: an unknown outcome is the caller's
/// to settle (core/store/conditional.hpp). Reads are repeated within their deadline.
class S3Store final : public Store {
 public:
  /// `client` is used until this is gone.
  S3Store(S3Client& client, S3Requests requests, S3Traits traits);

  StoreAbilities abilities() const override;
  Result<StoredObject> get(std::string_view key, std::optional<ByteRange> range,
                           const RequestOptions& options) override;
  Result<ObjectInfo> head(std::string_view key, const RequestOptions& options) override;
  Result<Etag> put(std::string_view key, Blob body, const Precondition& precondition,
                   const RequestOptions& options) override;
  Result<> remove(std::string_view key, const RequestOptions& options) override;
  Result<> remove_many(std::span<const std::string> keys, const RequestOptions& options) override;
  Result<Listing> list(std::string_view prefix, std::string_view start_after, size_t limit,
                       const RequestOptions& options) override;

  /// Whether the bucket keeps old versions of objects. kDenied when these credentials may not ask.
  Result<bool> keeps_old_versions(const RequestOptions& options);

  void set_traits(const S3Traits& traits) { traits_ = traits; }
  const S3Traits& traits() const { return traits_; }

 private:
  Result<StoredObject> get_range(std::string_view key, const ByteRange& range,
                                 const RequestOptions& options);
  Result<StoredObject> get_range_of_empty(std::string_view key, const ByteRange& range,
                                          const RequestOptions& options);

  S3Client& client_;
  S3Requests requests_;
  S3Traits traits_;
};

}  // namespace morula
