// Which shard is served where, as this instance knows it.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "core/api/placement.hpp"
#include "core/rt/env.hpp"
#include "core/rt/sync.hpp"
#include "core/shard/shard.hpp"
#include "core/stream/streams.hpp"
#include "core/topology/topology.hpp"

namespace morula {

/// A shard that this instance serves, with the semantics over it.
struct ServedShard {
  ServedShard(const Env& env, std::shared_ptr<Shard> s, const StreamLimits& limits)
      : shard(std::move(s)), streams(env, *shard, limits) {}
  std::shared_ptr<Shard> shard;
  Streams streams;
};

class ShardMap : public Placement {
 public:
  ShardMap(const Env& env, IncarnationId self) : env_(env), self_(std::move(self)) {}

  // What the instance has learnt.
  void learn(Topology topology);
  void learn_address(const IncarnationId& owner, std::string address);
  void serve(std::shared_ptr<ServedShard> shard);
  /// Nothing is served here any more; requests under way hold what they use.
  void stop_serving() { served_.clear(); }

  const std::optional<Topology>& topology() const { return topology_; }
  /// True when the topology names this incarnation as the owner of every shard.
  bool owns_all() const;
  /// Shards that are served here, and the sums of what they have.
  struct Figures {
    uint64_t shards = 0;
    Shard::Figures sums;
  };
  Figures figures() const;
  /// Of the topology and of all its manifests; nullopt when others may change some of them.
  std::optional<std::vector<Version>> all_versions() const;

  // The instance's side of `refresh`: wait for the next look, and tell when it is done.
  /// Suspends until `at` or until somebody asks for a look.
  void wait_for_look(Time at);
  void looked();

  // Placement
  Place locate(StreamId id) override;
  std::vector<ShardPlace> shards() override;
  void refresh(Time deadline) override;
  bool ready() const override;

 private:
  Place place_of(const TopologyShard& row) const;

  const Env env_;
  const IncarnationId self_;
  std::optional<Topology> topology_;
  std::map<IncarnationId, std::string> addresses_;
  std::map<Prefix, std::shared_ptr<ServedShard>> served_;
  bool look_asked_ = false;
  uint64_t looks_ = 0;
  WaitList looker_;
  WaitList waiting_;
};

}  // namespace morula
