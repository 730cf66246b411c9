// A Store in memory that answers before a call returns; it suspends nobody. For benchmarks: what is
// left is the cell's own cost.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "core/rt/store.hpp"

namespace morula {

class MemoryStore final : public Store {
 public:
  StoreAbilities abilities() const override { return {}; }

  Result<StoredObject> get(std::string_view key, std::optional<ByteRange> range,
                           const RequestOptions& options) override {
    count(options);
    const auto found = objects_.find(key);
    if (found == objects_.end()) return fail(ErrorCode::kNotFound, "no such object");
    if (!range) return found->second;
    const std::string& body = *found->second.body;
    if (range->offset > 0 && range->offset >= body.size()) {
      return fail(ErrorCode::kInvalid, "the range begins past the end");
    }
    return StoredObject{make_blob(body.substr(range->offset, range->length)), found->second.etag};
  }
  Result<ObjectInfo> head(std::string_view key, const RequestOptions& options) override {
    count(options);
    const auto found = objects_.find(key);
    if (found == objects_.end()) return fail(ErrorCode::kNotFound, "no such object");
    return ObjectInfo{std::string(key), found->second.body->size()};
  }
  Result<Etag> put(std::string_view key, Blob body, const Precondition& precondition,
                   const RequestOptions& options) override {
    count(options);
    const auto found = objects_.find(key);
    if (precondition.kind == Precondition::Kind::kIfAbsent && found != objects_.end()) {
      return fail(ErrorCode::kPreconditionFailed, "exists");
    }
    if (precondition.kind == Precondition::Kind::kIfMatch) {
      if (found == objects_.end()) return fail(ErrorCode::kNotFound, "no such object");
      if (found->second.etag != precondition.etag) {
        return fail(ErrorCode::kPreconditionFailed, "changed");
      }
    }
    put_bytes += body->size();
    StoredObject& object = objects_[std::string(key)];
    object = {std::move(body), std::to_string(++last_etag_)};
    return object.etag;
  }
  Result<> remove(std::string_view key, const RequestOptions& options) override {
    count(options);
    objects_.erase(std::string(key));
    return {};
  }
  Result<> remove_many(std::span<const std::string> keys, const RequestOptions& options) override {
    count(options);
    for (const std::string& key : keys) objects_.erase(key);
    return {};
  }
  Result<Listing> list(std::string_view prefix, std::string_view start_after, size_t limit,
                       const RequestOptions& options) override {
    count(options);
    Listing listing;
    for (auto at = objects_.upper_bound(std::max(prefix, start_after)); at != objects_.end();
         ++at) {
      if (!at->first.starts_with(prefix)) {
        if (at->first > prefix) break;
        continue;
      }
      if (listing.objects.size() == limit) {
        listing.truncated = true;
        break;
      }
      listing.objects.push_back({at->first, at->second.body->size()});
    }
    return listing;
  }

  std::array<uint64_t, kPurposes> requests{};  // by purpose
  uint64_t put_bytes = 0;

 private:
  void count(const RequestOptions& options) { ++requests[static_cast<size_t>(options.purpose)]; }

  std::map<std::string, StoredObject, std::less<>> objects_;
  uint64_t last_etag_ = 0;
};

}  // namespace morula
