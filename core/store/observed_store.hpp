// Lets others watch the requests of a Store: what they are for, how many bytes they move, how long
// they take. What isn't watched isn't wrapped, so it costs nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/rt/clock.hpp"
#include "core/rt/store.hpp"

namespace morula {

/// One request, from its send to its answer.
struct StoreExchange {
  StoreCall call = StoreCall::kGet;
  Purpose purpose = Purpose::kOwnership;
  std::string_view key;    // kList: the prefix; kRemoveMany: the first key
  uint64_t bytes_put = 0;  // of the body
  Time sent{};

  // Once it is answered.
  Time answered{};
  uint64_t bytes_got = 0;
  std::optional<ErrorCode> error;
  bool cancelled = false;  // nobody waits for it any more; it may still be carried out

  /// The store has done what it was asked, or has said that an object is absent or a condition
  /// false.
  bool succeeded() const;
};

class StoreObserver {
 public:
  virtual ~StoreObserver() = default;
  virtual void on_sent(const StoreExchange& exchange) = 0;
  virtual void on_answered(const StoreExchange& exchange) = 0;
};

/// Forwards to `within`; has exactly its abilities. All that it is given outlives it.
class ObservedStore final : public Store {
 public:
  ObservedStore(Store& within, Clock& clock, std::vector<StoreObserver*> observers)
      : within_(within), clock_(clock), observers_(std::move(observers)) {}

  StoreAbilities abilities() const override { return within_.abilities(); }
  Result<StoredObject> get(std::string_view key, std::optional<ByteRange> range,
                           const RequestOptions& options) override;
  Result<ObjectInfo> head(std::string_view key, const RequestOptions& options) override;
  Result<Etag> put(std::string_view key, Blob body, const Precondition& precondition,
                   const RequestOptions& options) override;
  Result<> remove(std::string_view key, const RequestOptions& options) override;
  Result<> remove_many(std::span<const std::string> keys, const RequestOptions& options) override;
  Result<Listing> list(std::string_view prefix, std::string_view start_after, size_t limit,
                       const RequestOptions& options) override;

 private:
  class Watch;

  Store& within_;
  Clock& clock_;
  const std::vector<StoreObserver*> observers_;
};

}  // namespace morula
