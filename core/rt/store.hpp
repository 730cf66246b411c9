// Object storage as the cell sees it.
//
// Promises of every store: reads and lists see every write that was answered before they began;
// `kIfAbsent` and `kIfMatch` are atomic, also between processes. Any request can end with an
// unknown outcome (`outcome_unknown(code)`) and land later, even after its sender has died.
//
// A key is either written once (if-absent), or swapped (if-absent once, then if-match only); the
// two are never mixed, and a swapped key is deleted only when nobody can still swap it.
//
// Every call suspends the fiber and throws Cancelled; a cancelled put may land.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/base/result.hpp"
#include "core/base/units.hpp"

namespace morula {

/// What a request is for: requests, bytes and time are accounted by it, and a store that must queue
/// serves them in this order.
enum class Purpose : uint8_t {
  kLog,
  kHeartbeat,
  kOwnership,
  kMetaRead,
  kDataRead,
  kIndexRead,
  kFlush,
  kCompaction,
  kTrim,
  kGc,
};
inline constexpr size_t kPurposes = static_cast<size_t>(Purpose::kGc) + 1;
std::string_view to_string(Purpose purpose);

/// The kinds of request that a Store takes.
enum class StoreCall : uint8_t { kGet, kHead, kPut, kRemove, kRemoveMany, kList };
inline constexpr size_t kStoreCalls = 6;
std::string_view to_string(StoreCall call);

struct RequestOptions {
  Time deadline = kNever;  // after it the call returns kTimeout
  Purpose purpose = Purpose::kOwnership;
};

/// Opaque; compare only for equality. Equal contents may have equal etags.
using Etag = std::string;

struct Precondition {
  enum class Kind : uint8_t { kNone, kIfAbsent, kIfMatch } kind = Kind::kNone;
  Etag etag;  // with kIfMatch

  static Precondition none() { return {}; }
  static Precondition if_absent() { return {Kind::kIfAbsent, {}}; }
  static Precondition if_match(Etag etag) { return {Kind::kIfMatch, std::move(etag)}; }
};

/// `length` bytes from `offset`; a range that passes the end is cut there.
struct ByteRange {
  uint64_t offset = 0;
  uint64_t length = 0;
};

struct StoredObject {
  Blob body;
  Etag etag;
};

struct ObjectInfo {
  std::string key;
  uint64_t size = 0;                      // bytes
  Etag etag{};                            // as `get` gives it; empty: not told
  std::optional<WallTime> modified = {};  // when it was written, by the store's clock, if told
};

/// Keys in bytewise order. `truncated`: there are more after the last.
struct Listing {
  std::vector<ObjectInfo> objects;
  bool truncated = false;
};

/// What a store may lack. A decorator advertises exactly what the store within has.
struct StoreAbilities {
  bool ranges = true;        // `get` with a range reads only that range
  bool batch_remove = true;  // `remove_many` is one request for many keys
  friend bool operator==(const StoreAbilities&, const StoreAbilities&) = default;
};

class Store {
 public:
  virtual ~Store() = default;

  virtual StoreAbilities abilities() const = 0;

  /// The whole object, or `range` of it. kNotFound when absent; kInvalid when the range begins past
  /// the end.
  virtual Result<StoredObject> get(std::string_view key, std::optional<ByteRange> range,
                                   const RequestOptions& options) = 0;
  /// Size of the object; kNotFound when absent.
  virtual Result<ObjectInfo> head(std::string_view key, const RequestOptions& options) = 0;
  /// The new etag. kPreconditionFailed: the condition did not hold (certain). kNotFound: if-match
  /// on an absent key (certain).
  virtual Result<Etag> put(std::string_view key, Blob body, const Precondition& precondition,
                           const RequestOptions& options) = 0;
  /// Ok also when the key is absent.
  virtual Result<> remove(std::string_view key, const RequestOptions& options) = 0;
  /// As `remove` for each key; the first error is returned, the others may be gone or not. At most
  /// 1,000 keys.
  virtual Result<> remove_many(std::span<const std::string> keys,
                               const RequestOptions& options) = 0;
  /// Objects whose key starts with `prefix` and is greater than `start_after`, at most `limit`
  /// (at most 1,000).
  virtual Result<Listing> list(std::string_view prefix, std::string_view start_after, size_t limit,
                               const RequestOptions& options) = 0;
};

}  // namespace morula
