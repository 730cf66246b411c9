// From what `--store` says to a Store: the one place that knows all kinds of them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/rt/store.hpp"
#include "core/rt/trace.hpp"
#include "prod/loop.hpp"

namespace morula {

/// Everything that tells where a cell lies and how to get there; a part of each command's options.
struct StoreOptions {
  std::string location = "file:./morula-data";  // --store
};

enum class StoreAccess : uint8_t {
  kServe,    // makes the place if it is absent, and proves that a cell can be kept there
  kInspect,  // writes nothing, ever: puts and removes end with kDenied, an absent place is an error
};

struct OpenedStore {
  std::unique_ptr<Store> store;
  std::string location;  // as messages name it: "file:/srv/cell"
};

/// `loop` and `trace` outlive the store; names in the place that are no keys are told to `trace`.
/// May block on the disk. Never called by a fiber. Errors say what to do.
Result<OpenedStore> open_store(Loop& loop, Trace& trace, const StoreOptions& options,
                               StoreAccess access);

/// The directory in "file:DIR". kInvalid otherwise, with what is allowed.
Result<std::string> parse_store_directory(std::string_view location);

}  // namespace morula
