// Who serves a stream, as this instance knows it: what the API asks of the cell.
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/prefix.hpp"
#include "core/base/units.hpp"

namespace morula {

class Streams;

/// This instance serves it.
struct ServedHere {
  /// Of all shards that it serves; keeps what it needs alive while a request holds it.
  std::shared_ptr<Streams> streams;
};
/// Another instance serves it.
struct ServedElsewhere {
  std::string address;  // "http://host:port", never this instance's own
};
/// This instance is about to serve it, or has stopped because it is handing it over: what comes is
/// known in a moment.
struct ServedSoon {};
/// Nobody that is known now, such as during a takeover.
struct ServedUnknown {};

using Place = std::variant<ServedHere, ServedElsewhere, ServedSoon, ServedUnknown>;

struct ShardPlace {
  Prefix prefix;  // what a listing asks for
  Place place;
};

class Placement {
 public:
  virtual ~Placement() = default;

  /// What is known now; may be stale. Never suspends.
  virtual Place locate(StreamId id) = 0;
  /// All shards, which partition the space; empty while nothing is known of them. As above.
  virtual std::vector<ShardPlace> shards() = 0;
  /// An answer has shown that what `locate` said may be stale: looks again (many callers share one
  /// look). Returns when it has, whether or not it learned anything, and by `deadline`. Suspends;
  /// throws Cancelled.
  virtual void refresh(Time deadline) = 0;
  /// Returns when what `locate` says may have changed, and by `deadline`. Suspends; throws
  /// Cancelled.
  virtual void await_change(Time deadline) = 0;
  /// True while every shard has a known owner that serves, here or elsewhere: `/readyz`.
  virtual bool ready() const = 0;
};

}  // namespace morula
