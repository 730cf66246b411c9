// Immutable bytes that outlive the call that they were handed to.
#pragma once

#include <memory>
#include <string>
#include <utility>

namespace morula {

/// Shared, immutable. A fiber can be cancelled while a store still sends its body: the store holds
/// a reference of its own. Never null where a body is expected.
using Blob = std::shared_ptr<const std::string>;

inline Blob make_blob(std::string bytes) {
  return std::make_shared<const std::string>(std::move(bytes));
}

}  // namespace morula
