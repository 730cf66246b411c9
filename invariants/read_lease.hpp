// Invariant 3 before anybody is told something stale: no instance answers a read from its own state
// of a shard once another owner of that shard has acknowledged a write (OWNERSHIP, Reads). Whether
// the stream that was read is the one that was written does not matter here.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/ids.hpp"
#include "core/base/prefix.hpp"
#include "invariants/reachable.hpp"
#include "invariants/violation.hpp"

namespace morula::invariants {

class ReadLease {
 public:
  ReadLease(const Reachable& reachable, Violations& violations)
      : reachable_(reachable), violations_(violations) {}

  /// The cell's secret has become known: from now on targets can be told to shards.
  void learn(const HashSecret& secret) { hasher_.emplace(secret); }
  /// A record of `stream` is acknowledged by `actor`.
  void acknowledged(StreamId stream, const IncarnationId& actor, Duration now);
  /// The instance called `instance` answers a read of (tenant, target) from its own state.
  void answered(std::string_view instance, std::string_view tenant, std::string_view target,
                Duration now);

 private:
  struct Write {
    IncarnationId by;
    Duration at{};
  };

  const Reachable& reachable_;
  Violations& violations_;
  std::optional<StreamHasher> hasher_;
  std::map<Prefix, Write> first_writes_;  // of each shard's present owner
};

}  // namespace morula::invariants
