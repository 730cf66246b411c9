#include "prod/counting_store.hpp"

#include <utility>

namespace morula {

CountingStore::Count& CountingStore::begun(const RequestOptions& options) {
  Count& count = counts_.at(static_cast<size_t>(options.purpose));
  ++count.requests;
  return count;
}

template <class Answer>
Answer CountingStore::ended(Count& count, Answer answer) {
  if (!answer && answer.error().code != ErrorCode::kNotFound &&
      answer.error().code != ErrorCode::kPreconditionFailed) {
    ++count.failed;
  }
  return answer;
}

Result<StoredObject> CountingStore::get(std::string_view key, std::optional<ByteRange> range,
                                        const RequestOptions& options) {
  Count& count = begun(options);
  auto got = ended(count, store_.get(key, range, options));
  if (got) count.bytes_gotten += got->body->size();
  return got;
}

Result<ObjectInfo> CountingStore::head(std::string_view key, const RequestOptions& options) {
  Count& count = begun(options);
  return ended(count, store_.head(key, options));
}

Result<Etag> CountingStore::put(std::string_view key, Blob body, const Precondition& precondition,
                                const RequestOptions& options) {
  Count& count = begun(options);
  count.bytes_put += body->size();
  return ended(count, store_.put(key, std::move(body), precondition, options));
}

Result<> CountingStore::remove(std::string_view key, const RequestOptions& options) {
  Count& count = begun(options);
  return ended(count, store_.remove(key, options));
}

Result<> CountingStore::remove_many(std::span<const std::string> keys,
                                    const RequestOptions& options) {
  Count& count = begun(options);
  return ended(count, store_.remove_many(keys, options));
}

Result<Listing> CountingStore::list(std::string_view prefix, std::string_view start_after,
                                    size_t limit, const RequestOptions& options) {
  Count& count = begun(options);
  return ended(count, store_.list(prefix, start_after, limit, options));
}

void CountingStore::report(Trace& trace) const {
  for (size_t i = 0; i < counts_.size(); ++i) {
    const Count& count = counts_[i];
    if (count.requests == 0) continue;
    trace.log(Severity::kInfo, "store_requests",
              {{"purpose", to_string(static_cast<Purpose>(i))},
               {"requests", count.requests},
               {"failed", count.failed},
               {"bytes_put", count.bytes_put},
               {"bytes_gotten", count.bytes_gotten}});
  }
}

}  // namespace morula
