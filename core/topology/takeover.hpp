// Takeover of the shards of a dead incarnation (OWNERSHIP R3, steps b to d), and the first
// topology.
//
// The caller has seen the victim's member document say `expired` or `stopped` (or name another
// incarnation), and has fenced its log at f (core/log/fence.hpp). What comes out is adopted shards,
// which the caller replays and serves (R3e).
#pragma once

#include <vector>

#include "core/log/log_writer.hpp"
#include "core/shard/adopted_shard.hpp"
#include "core/shard/manifest_document.hpp"
#include "core/topology/topology_document.hpp"

namespace morula {

class Takeover {
 public:
  Takeover(const Env& env, const RetryConfig& retry, LogWriter& log);

  /// Seals, adopts and publishes every shard of `victim`, whose log counts as fenced at `fence`, by
  /// one CAS of the topology; repeats on conflicts with backoff. Empty when others were faster.
  /// Errors: kCorrupt and the store's certain ones. Suspends; throws Cancelled.
  Result<std::vector<AdoptedShard>> run(const IncarnationId& victim, LogSeq fence);

  /// Creates the first topology with 2^bits shards, all owned by this incarnation. Empty when the
  /// cell has a topology already. Errors and suspension as above.
  Result<std::vector<AdoptedShard>> create_first_topology(uint8_t bits);

 private:
  struct Attempt {
    std::vector<AdoptedShard> shards;
    Topology next;
  };

  Result<Versioned<Manifest>> Seal(const TopologyShard& shard);
  Result<AdoptedShard> Adopt(const TopologyShard& shard, const Manifest& sealed,
                             const IncarnationId& victim, LogSeq fence, Version base);
  Result<bool> Publish(const Versioned<Topology>& base, const Attempt& attempt);
  Result<AdoptedShard> put_manifest(Prefix prefix, Epoch epoch, Version base, Manifest manifest,
                                    LogPin from);
  bool names_all(const Topology& topology, const std::vector<AdoptedShard>& shards) const;

  const Env env_;
  const RetryConfig retry_;
  LogWriter& log_;
};

}  // namespace morula
