// Whether a bucket that lacks one of the cell's documents is a new one.
#pragma once

#include <string_view>

#include "core/rt/env.hpp"
#include "core/store/conditional.hpp"

namespace morula {

/// kCorrupt when the bucket holds streams (a table, or a batch of a log): then the absent
/// `document` was deleted, and a fresh one would hide them all. Another instance may have made both
/// since the caller looked: the error counts if the document is still absent after it. Other errors
/// as `list_objects`. Suspends.
Result<> require_no_data(const Env& env, const RetryConfig& retry, std::string_view document);

}  // namespace morula
