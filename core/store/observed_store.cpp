#include "core/store/observed_store.hpp"

#include <utility>

namespace morula {

bool StoreExchange::succeeded() const {
  return !cancelled &&
         (!error || *error == ErrorCode::kNotFound || *error == ErrorCode::kPreconditionFailed);
}

/// Tells the observers of one request; one that was left by an exception was cancelled.
class ObservedStore::Watch {
 public:
  Watch(ObservedStore& store, StoreCall call, std::string_view key, const RequestOptions& options,
        uint64_t bytes_put = 0)
      : store_(store) {
    exchange_.call = call;
    exchange_.purpose = options.purpose;
    exchange_.key = key;
    exchange_.bytes_put = bytes_put;
    exchange_.sent = store_.clock_.now();
    exchange_.cancelled = true;
    for (StoreObserver* observer : store_.observers_) observer->on_sent(exchange_);
  }
  ~Watch() {
    exchange_.answered = store_.clock_.now();
    for (StoreObserver* observer : store_.observers_) observer->on_answered(exchange_);
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  template <class Answer>
  Answer ended(Answer answer) {
    exchange_.cancelled = false;
    if (!answer) exchange_.error = answer.error().code;
    return answer;
  }
  void got(uint64_t bytes) { exchange_.bytes_got = bytes; }

 private:
  ObservedStore& store_;
  StoreExchange exchange_;
};

Result<StoredObject> ObservedStore::get(std::string_view key, std::optional<ByteRange> range,
                                        const RequestOptions& options) {
  Watch watch(*this, StoreCall::kGet, key, options);
  auto got = watch.ended(within_.get(key, range, options));
  if (got) watch.got(got->body->size());
  return got;
}

Result<ObjectInfo> ObservedStore::head(std::string_view key, const RequestOptions& options) {
  Watch watch(*this, StoreCall::kHead, key, options);
  return watch.ended(within_.head(key, options));
}

Result<Etag> ObservedStore::put(std::string_view key, Blob body, const Precondition& precondition,
                                const RequestOptions& options) {
  Watch watch(*this, StoreCall::kPut, key, options, body->size());
  return watch.ended(within_.put(key, std::move(body), precondition, options));
}

Result<> ObservedStore::remove(std::string_view key, const RequestOptions& options) {
  Watch watch(*this, StoreCall::kRemove, key, options);
  return watch.ended(within_.remove(key, options));
}

Result<> ObservedStore::remove_many(std::span<const std::string> keys,
                                    const RequestOptions& options) {
  Watch watch(*this, StoreCall::kRemoveMany, keys.empty() ? std::string_view() : keys.front(),
              options);
  return watch.ended(within_.remove_many(keys, options));
}

Result<Listing> ObservedStore::list(std::string_view prefix, std::string_view start_after,
                                    size_t limit, const RequestOptions& options) {
  Watch watch(*this, StoreCall::kList, prefix, options);
  return watch.ended(within_.list(prefix, start_after, limit, options));
}

}  // namespace morula
