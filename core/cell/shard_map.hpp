// Which shard is served where, as this instance knows it.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/api/placement.hpp"
#include "core/rt/env.hpp"
#include "core/rt/sync.hpp"
#include "core/shard/served_shards.hpp"
#include "core/stream/streams.hpp"
#include "core/topology/topology.hpp"

namespace morula {

class ShardMap : public Placement {
 public:
  ShardMap(const Env& env, IncarnationId self) : env_(env), self_(std::move(self)) {}

  /// From now on it may serve. All outlive it.
  void begin(LogWriter& log, const LeaseView& lease, MemoryBudget& memory,
             const StreamLimits& limits);

  // What the instance has learnt.
  /// Only newer is taken. What is another's now is not served any more, unless it is held.
  void learn(Topology topology);
  void learn_address(const IncarnationId& owner, std::string address);
  void serve(std::shared_ptr<Shard> shard);
  void resume(Prefix shard);

  /// A part of the space that somebody opens or changes: until it is released nobody else does, and
  /// `learn` leaves it as it is.
  class Hold {
   public:
    Hold() = default;
    Hold(ShardMap& map, std::vector<Prefix> prefixes);
    ~Hold() { release(); }
    Hold(Hold&& other) noexcept
        : map_(std::exchange(other.map_, nullptr)), prefixes_(std::move(other.prefixes_)) {}
    Hold& operator=(Hold&& other) noexcept;
    void release();

   private:
    ShardMap* map_ = nullptr;
    std::vector<Prefix> prefixes_;
  };
  /// nullopt: a part of it is held.
  std::optional<Hold> hold(std::vector<Prefix> prefixes);
  /// Whether something of the space is served or held here, or was until a moment ago.
  bool is_here(Prefix prefix) const;
  /// Nothing is served here any more: requests under way end as moved, unless they have written.
  void stop_serving() { here_->rows.remove_all(); }

  /// What is served here, for those who stop, resume or exchange shards; after `begin`.
  ServedShards& served() { return here_->rows; }

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

  // The instance's side of `refresh`: wait for the next look, and tell when it begins and is done.
  /// Suspends until `at` or until somebody asks for a look.
  void wait_for_look(Time at);
  void look_begins();
  void looked();

  // Placement
  Place locate(StreamId id) override;
  std::vector<ShardPlace> shards() override;
  void refresh(Time deadline) override;
  void await_change(Time deadline) override;
  bool ready() const override;

 private:
  /// What this instance serves, with the semantics over it.
  struct Here {
    Here(const Env& env, LogWriter& log, const LeaseView& lease, MemoryBudget& memory,
         const StreamLimits& limits)
        : rows(env, log, lease, memory), streams(env, rows, limits) {}
    ServedShards rows;
    Streams streams;
  };

  bool is_held(Prefix prefix) const;
  bool is_named(const Shard& shard) const;
  void drop(Prefix shard);
  ServedHere here() const { return {std::shared_ptr<Streams>(here_, &here_->streams)}; }
  Place place_of(const TopologyShard& row) const;

  const Env env_;
  const IncarnationId self_;
  std::optional<Topology> topology_;
  std::map<IncarnationId, std::string> addresses_;
  std::shared_ptr<Here> here_;
  std::vector<Prefix> held_;
  bool look_asked_ = false;
  uint64_t looks_begun_ = 0;
  uint64_t looks_done_ = 0;
  WaitList looker_;
  WaitList waiting_;
  WaitList changed_;
};

}  // namespace morula
