// Is one object of the bucket what its key says, byte for byte?
#pragma once

#include <optional>
#include <string>

#include "core/rt/env.hpp"
#include "core/store/conditional.hpp"
#include "core/store/keys.hpp"

namespace morula {

struct CheckedObject {
  bool absent = false;
  std::optional<std::string> damage;  // what is wrong, the same in two reads
  bool is_fence = false;              // of a log object
  uint64_t bytes = 0;
};

/// Reads the whole object, and looks at every byte of it. Errors are the store's. Suspends.
Result<CheckedObject> check_object(const Env& env, const std::string& key,
                                   const keys::Parsed& parsed, const RetryConfig& retry);

}  // namespace morula
