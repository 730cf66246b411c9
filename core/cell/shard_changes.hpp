// Splits, merges and moves of the shards of this instance (OWNERSHIP R4 to R6).
//
// Each seals what it replaces, puts the manifests of what comes, and swaps the topology once. Split
// and merge pause nobody: appends go on, and when the swap has landed the new shards take over in
// memory, without suspension. A move stops serving from when the last record of the shard is known
// to when the swap is resolved. A change that fails for good reopens what it has sealed.
//
// One change of a shard at a time; of an instance's changes one at a time goes to the topology.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/api/cell_control.hpp"
#include "core/cell/handoff_messages.hpp"
#include "core/cell/shard_host.hpp"
#include "core/cell/shard_map.hpp"
#include "core/log/log_writer.hpp"
#include "core/rt/env.hpp"
#include "core/rt/network.hpp"
#include "core/rt/sync.hpp"
#include "core/topology/topology_change.hpp"

namespace morula {

class ShardChanges {
 public:
  /// All outlive it.
  ShardChanges(const Env& env, const RetryConfig& retry, LogWriter& log, ShardMap& map,
               ShardHost& host);

  // As CellControl has it.
  Result<Changed> split(Prefix prefix);
  Result<Changed> merge(Prefix prefix);
  Result<Changed> move(Prefix prefix, const IncarnationId& to);

  /// Moves under way.
  const std::vector<CellView::Move>& moves() const { return moves_; }
  /// Held by whoever changes the topology on behalf of this instance.
  Mutex& topology_mutex() { return topology_mutex_; }

 private:
  using Shards = std::vector<std::shared_ptr<Shard>>;
  /// The shards to come, from those that are sealed now.
  using Build = std::function<std::vector<AdoptedShard>()>;
  struct Attempt {
    enum class End : uint8_t { kLanded, kFailed, kLost } end = End::kFailed;
    std::vector<AdoptedShard> next;
    Topology now;
  };

  /// What is changed is held, and its manifests are locked, for as long as this lives.
  struct Held {
    ShardMap::Hold hold;
    Shards shards;
    std::vector<MutexLock> locks;
  };
  Result<Held> hold(const std::vector<Prefix>& prefixes);

  Result<Changed> change(Held& held, const Build& build,
                         const std::function<void(std::vector<AdoptedShard>)>& take_effect);
  Result<Attempt> attempt(const Shards& before, const Build& build);
  /// The manifests of `next` lie in the bucket.
  Result<Attempt> publish(const Versioned<Topology>& base, const Shards& before,
                          std::vector<AdoptedShard> next);
  bool still_names(const Topology& topology, const Shards& shards) const;
  Result<bool> seal_all(const Shards& shards);
  /// Returns when each is open again, or another's.
  void Reopen(const Shards& shards);
  void Split(const std::shared_ptr<Shard>& parent, std::vector<AdoptedShard> halves);
  void Merge(const Shards& halves, std::vector<AdoptedShard> whole);
  Result<Changed> after_loss(Held held, Topology now);

  // hand_off.cpp
  Result<> prepare(const std::string& address, const Shard& shard, const IncarnationId& to,
                   Duration patience);
  Result<LogSeq> ask(const std::string& address, Prefix shard, const IncarnationId& to,
                     Version topology);
  Result<Attempt> HandOff(const std::shared_ptr<Shard>& shard, const IncarnationId& to,
                          const std::string& address);
  Result<Attempt> give(const Versioned<Topology>& base, const std::shared_ptr<Shard>& shard,
                       const IncarnationId& to, const std::string& address, LogSeq from);
  void tell(const std::string& address, const NamedMessage& message);
  Result<HttpResponse> call(const std::string& address, std::string_view path, std::string body,
                            Duration patience);

  const Env env_;
  const RetryConfig retry_;
  LogWriter& log_;
  ShardMap& map_;
  ShardHost& host_;
  TopologyChange change_;
  Mutex topology_mutex_;
  std::vector<CellView::Move> moves_;
};

}  // namespace morula
