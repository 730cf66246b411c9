#include "core/inspect/inspection_store.hpp"

namespace morula {

namespace {

tl::unexpected<Error> read_only(std::string_view key) {
  return fail(ErrorCode::kDenied,
              "an inspection changes nothing, and was about to: " + std::string(key));
}

bool may_pass(ErrorCode code) {
  return outcome_unknown(code) || code == ErrorCode::kThrottled || code == ErrorCode::kBusy;
}

}  // namespace

template <class T>
Result<T> InspectionStore::judged(Result<T> answer) {
  if (answer || !may_pass(answer.error().code)) {
    silent_since_.reset();
    return answer;
  }
  const Time now = clock_.now();
  if (!silent_since_) silent_since_ = now;
  if (now - *silent_since_ < give_up_after_) return answer;
  return fail(ErrorCode::kDenied, "the store can't be read: " + answer.error().message);
}

Result<StoredObject> InspectionStore::get(std::string_view key, std::optional<ByteRange> range,
                                          const RequestOptions& options) {
  return judged(inner_.get(key, range, options));
}

Result<ObjectInfo> InspectionStore::head(std::string_view key, const RequestOptions& options) {
  return judged(inner_.head(key, options));
}

Result<Listing> InspectionStore::list(std::string_view prefix, std::string_view start_after,
                                      size_t limit, const RequestOptions& options) {
  return judged(inner_.list(prefix, start_after, limit, options));
}

Result<Etag> InspectionStore::put(std::string_view key, Blob, const Precondition&,
                                  const RequestOptions&) {
  return read_only(key);
}

Result<> InspectionStore::remove(std::string_view key, const RequestOptions&) {
  return read_only(key);
}

Result<> InspectionStore::remove_many(std::span<const std::string> keys, const RequestOptions&) {
  return read_only(keys.empty() ? "" : keys.front());
}

}  // namespace morula
