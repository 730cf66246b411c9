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
#include "prod/s3/s3_options.hpp"

namespace morula {

/// Everything that tells where a cell lies and how to get there; a part of each command's options.
struct StoreOptions {
  std::string location = "file:./data";  // --store
  S3Options s3;                          // with s3://bucket/prefix
};

enum class StoreAccess : uint8_t {
  kServe,    // makes the place if it is absent, and proves that a cell can be kept there
  kInspect,  // writes nothing, ever: puts and removes end with kDenied, an absent place is an error
};

struct OpenedStore {
  std::unique_ptr<Store> store;
  std::string location;  // as messages name it: "file:/srv/cell", "s3://bucket/prefix"
};

/// `loop` and `trace` outlive the store; names in the place that are no keys are told to `trace`.
/// May block on the disk; waits for an S3 endpoint that is down, and tells `trace`. Never called,
/// and the store never destroyed, by a fiber. Errors say what to do.
Result<OpenedStore> open_store(Loop& loop, Trace& trace, const StoreOptions& options,
                               StoreAccess access);

/// What suits a store of that kind, unless somebody says otherwise.
struct StoreDefaults {
  uint64_t puts_per_second = 0;  // the log's budget; 0: no limit
  /// A shard flushes when it holds back so many log objects: as many are read at a takeover.
  uint64_t flush_objects = 4000;
};
/// S3 charges by the request, and takes a round trip for each.
StoreDefaults defaults_of(std::string_view location);

/// True for "s3://...".
bool is_s3_location(std::string_view location);
/// The directory in "file:DIR". kInvalid otherwise, with what is allowed.
Result<std::string> parse_store_directory(std::string_view location);

}  // namespace morula
