#include "core/store/remove_objects.hpp"

#include <algorithm>

namespace morula {
namespace {

constexpr int kAttempts = 3;

Result<> remove_once(const Env& env, std::span<const std::string> keys, Purpose purpose,
                     const RetryConfig& retry) {
  Backoff backoff(env, retry, keys.front());
  for (int attempt = 1;; ++attempt) {
    const RequestOptions options = backoff.attempt(purpose);
    auto removed = keys.size() == 1 ? env.store.remove(keys.front(), options)
                                    : env.store.remove_many(keys, options);
    if (removed || attempt == kAttempts) return removed;
    backoff.pause(removed.error());
  }
}

}  // namespace

Result<> remove_objects(const Env& env, std::span<const std::string> keys, Purpose purpose,
                        const RetryConfig& retry) {
  const size_t at_once = env.store.abilities().batch_remove ? kRemovedAtOnce : 1;
  while (!keys.empty()) {
    const size_t count = std::min(at_once, keys.size());
    MORULA_TRY(remove_once(env, keys.first(count), purpose, retry));
    keys = keys.subspan(count);
  }
  return {};
}

}  // namespace morula
