// Reading a JSON document of the bucket.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/rt/env.hpp"
#include "core/store/conditional.hpp"
#include "core/store/versioned.hpp"

namespace morula {

/// nullopt when `key` is absent. Bytes that don't decode may have been damaged on the way: it is
/// kCorrupt, naming the key, when two reads in a row show the same. Other errors as `get_object`.
/// Suspends.
template <class T>
Result<std::optional<Versioned<T>>> read_document(const Env& env, std::string_view key,
                                                  Purpose purpose, const RetryConfig& retry,
                                                  Result<T> (*decode)(std::string_view)) {
  constexpr int kReadsOfDamage = 16;  // that each show other bytes
  Blob last;
  for (int read = 1;; ++read) {
    auto object = get_object(env, key, purpose, retry);
    MORULA_TRY(object);
    if (!*object) return std::nullopt;
    const Blob& body = (*object)->body;
    auto content = decode(*body);
    if (content) return Versioned<T>{std::move(*content), std::move((*object)->etag)};
    if ((last && *last == *body) || read == kReadsOfDamage) {
      return fail(ErrorCode::kCorrupt, std::string(key) + ": " + content.error().message);
    }
    last = body;
  }
}

}  // namespace morula
