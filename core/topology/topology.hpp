// The topology: which shards there are, who owns each, and which manifest says what it holds. One
// object, `topology.json`, changed by CAS only: its version orders every change of ownership.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/mutant.hpp"
#include "core/base/prefix.hpp"
#include "core/base/result.hpp"
#include "core/lsm/manifest.hpp"

namespace morula {

struct TopologyShard {
  Prefix prefix;
  Epoch epoch;  // raised at each change of owner
  IncarnationId owner;
  std::string manifest;  // key of the object
  /// Every incarnation that the manifest names, computed from the manifest being published, and the
  /// owner: whose logs may still be needed. Sorted.
  std::vector<IncarnationId> logs;
};

struct Topology {
  Version version;
  std::vector<TopologyShard> shards;  // by where they begin; together they partition the hash space
  IncarnationId writer;
  Ulid nonce;

  const TopologyShard* find(Prefix prefix) const;
  /// The shard that holds the stream. There is always one.
  const TopologyShard& shard_of(StreamId id) const;

 private:
  const TopologyShard* last_up_to(StreamId id) const;
};

/// `manifest.log_incarnations()` and `owner`, sorted, each once.
std::vector<IncarnationId> row_logs(const Manifest& manifest, const IncarnationId& owner);

/// Of the shards that replace one of this epoch.
inline Epoch next_epoch(Epoch replaced) {
  return mutated(Mutant::epoch_not_raised) ? replaced : replaced + 1;
}

std::string encode_topology(const Topology& topology);
/// kCorrupt, naming the field; also when the shards do not partition the space.
Result<Topology> decode_topology(std::string_view text);

}  // namespace morula
