// A Store that does nothing: tests override what they are about.
#pragma once

#include "core/rt/store.hpp"

namespace morula {

class IdleStore : public Store {
 public:
  StoreAbilities abilities() const override { return {}; }
  Result<StoredObject> get(std::string_view, std::optional<ByteRange>,
                           const RequestOptions&) override {
    return fail(ErrorCode::kUnsupported, "");
  }
  Result<ObjectInfo> head(std::string_view, const RequestOptions&) override {
    return fail(ErrorCode::kUnsupported, "");
  }
  Result<Etag> put(std::string_view, Blob, const Precondition&, const RequestOptions&) override {
    return fail(ErrorCode::kUnsupported, "");
  }
  Result<> remove(std::string_view, const RequestOptions&) override { return {}; }
  Result<> remove_many(std::span<const std::string>, const RequestOptions&) override { return {}; }
  Result<Listing> list(std::string_view, std::string_view, size_t, const RequestOptions&) override {
    return Listing{};
  }
};

}  // namespace morula
