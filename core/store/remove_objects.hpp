// Deleting several objects.
#pragma once

#include <span>
#include <string>

#include "core/rt/env.hpp"
#include "core/store/backoff.hpp"

namespace morula {

/// How many a store takes in one request of ours.
inline constexpr size_t kRemovedAtOnce = 500;

/// Deletes the keys in their order: as many at once as the store takes, or one by one. Deleting
/// twice does no harm, so what fails is repeated, a few times. After an error some of them may
/// be there still, or go later. Suspends; throws Cancelled.
Result<> remove_objects(const Env& env, std::span<const std::string> keys, Purpose purpose,
                        const RetryConfig& retry);

}  // namespace morula
