// Counts what the cell asks of its store, by purpose: what a bucket's bill is made of.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/rt/store.hpp"
#include "core/rt/trace.hpp"

namespace morula {

/// Forwards to `store`, which outlives it.
class CountingStore final : public Store {
 public:
  explicit CountingStore(Store& store) : store_(store) {}

  struct Count {
    uint64_t requests = 0;
    uint64_t failed = 0;     // of these; an absent key or a condition that fails is no failure
    uint64_t bytes_put = 0;  // also of puts that failed
    uint64_t bytes_gotten = 0;
  };
  const Count& count(Purpose purpose) const { return counts_.at(static_cast<size_t>(purpose)); }
  /// A line "store_requests" for each purpose that was asked for.
  void report(Trace& trace) const;

  StoreAbilities abilities() const override { return store_.abilities(); }
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
  static constexpr size_t kPurposesMax = 16;

  Count& begun(const RequestOptions& options);
  template <class Answer>
  Answer ended(Count& count, Answer answer);

  Store& store_;
  std::array<Count, kPurposesMax> counts_{};
};

}  // namespace morula
