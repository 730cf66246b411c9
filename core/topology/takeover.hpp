// Takeover of the shards of a dead incarnation (OWNERSHIP R3, steps b to d), and the first
// topology.
//
// The caller has seen the victim's member document say `expired` or `stopped` (or name another
// incarnation), and has fenced its log at f (core/log/fence.hpp). What comes out is adopted shards,
// which the caller replays and serves (R3e).
//
// Several survivors may take over at once, each its part: they meet only in the topology's CAS, and
// who loses it begins again with what is left.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/log/log_writer.hpp"
#include "core/shard/adopted_shard.hpp"
#include "core/shard/manifest_document.hpp"
#include "core/topology/topology_change.hpp"

namespace morula {

class Takeover {
 public:
  Takeover(const Env& env, const RetryConfig& retry, LogWriter& log);

  /// Which of the victim's shards to take, in each topology that is read.
  using Part = std::function<bool(const Topology&, const TopologyShard&)>;

  /// Seals, adopts and publishes the shards of `victim` (those of `part`; null: all), whose log
  /// counts as fenced at `fence`, by one CAS of the topology; repeats on conflicts with backoff.
  /// Empty when others were faster. A shard whose named manifest was deleted by hand is left out,
  /// with an error in the trace, once: it can't be had until that is put back. Errors: kCorrupt and
  /// the store's certain ones. Suspends; throws Cancelled.
  Result<std::vector<AdoptedShard>> run(const IncarnationId& victim, LogSeq fence,
                                        const Part& part = nullptr);

  /// Creates the first topology with 2^bits shards, all owned by this incarnation. Empty when the
  /// cell has a topology already. Errors and suspension as above.
  Result<std::vector<AdoptedShard>> create_first_topology(uint8_t bits);

 private:
  using SealedManifests = std::map<std::string, Manifest>;
  /// What is known of them by key, for the next attempt.
  struct Manifests {
    SealedManifests sealed;  // what was sealed does not change again
    /// A key is named in one stretch of versions: a topology that is read later and still names one
    /// of these has lost it.
    std::set<std::string> absent;
  };

  /// Seals them all. False: a manifest is gone; either the topology has moved on, or it is lost.
  Result<bool> seal_all(const std::vector<TopologyShard>& rows, Manifests& manifests);
  void tell_lost(const TopologyShard& row);
  Result<std::optional<Manifest>> Seal(const TopologyShard& row);
  Result<std::vector<AdoptedShard>> Adopt(const std::vector<TopologyShard>& rows,
                                          const SealedManifests& sealed,
                                          const IncarnationId& victim, LogSeq fence, Version base);
  void note_published(const std::vector<AdoptedShard>& shards, Version version) const;

  const Env env_;
  const RetryConfig retry_;
  LogWriter& log_;
  TopologyChange change_;
  std::set<std::string> told_lost_;
};

}  // namespace morula
