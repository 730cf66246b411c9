// core/inspect looks at a bucket without serving it: whether everything in it is whole and what is
// named is there (survey.hpp), and what a stream holds (stored_stream.hpp). It may be used while
// instances serve the bucket, and writes nothing, ever.
//
// The Store that it sees the bucket through: refuses every change, and gives up where those who
// serve would wait for ever.
#pragma once

#include <optional>

#include "core/rt/clock.hpp"
#include "core/rt/store.hpp"

namespace morula {

class InspectionStore final : public Store {
 public:
  /// `inner` and `clock` outlive it. Once nothing has been answered for `give_up_after`, requests
  /// end with kDenied, which nobody repeats, and what the store said.
  InspectionStore(Store& inner, Clock& clock, Duration give_up_after)
      : inner_(inner), clock_(clock), give_up_after_(give_up_after) {}

  StoreAbilities abilities() const override { return inner_.abilities(); }
  Result<StoredObject> get(std::string_view key, std::optional<ByteRange> range,
                           const RequestOptions& options) override;
  Result<ObjectInfo> head(std::string_view key, const RequestOptions& options) override;
  Result<Listing> list(std::string_view prefix, std::string_view start_after, size_t limit,
                       const RequestOptions& options) override;
  // kDenied, without a request.
  Result<Etag> put(std::string_view key, Blob body, const Precondition& precondition,
                   const RequestOptions& options) override;
  Result<> remove(std::string_view key, const RequestOptions& options) override;
  Result<> remove_many(std::span<const std::string> keys, const RequestOptions& options) override;

 private:
  template <class T>
  Result<T> judged(Result<T> answer);

  Store& inner_;
  Clock& clock_;
  const Duration give_up_after_;
  std::optional<Time> silent_since_;
};

}  // namespace morula
