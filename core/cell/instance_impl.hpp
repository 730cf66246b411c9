// What an instance is made of. Only for the files of the instance.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/api/api.hpp"
#include "core/cell/instance.hpp"
#include "core/cell/membership.hpp"
#include "core/cell/shard_changes.hpp"
#include "core/cell/shard_host.hpp"
#include "core/cell/shard_map.hpp"
#include "core/cell/shard_receiver.hpp"
#include "core/fleet/lease.hpp"
#include "core/lsm/block_cache.hpp"
#include "core/rt/clock.hpp"
#include "core/rt/random.hpp"
#include "core/rt/sync.hpp"
#include "core/shard/adopted_shard.hpp"
#include "core/shard/memtables.hpp"
#include "core/shard/table_numbers.hpp"
#include "core/topology/takeover.hpp"

namespace morula {

struct Instance::Impl final : ShardHost, CellControl {
  Impl(const Env& e, InstanceConfig c, MemoryBudget& memory)
      : env(e),
        config(std::move(c)),
        self{config.name, Ulid::draw(env.clock.wall(), env.random)},
        lease(env, config.lease, config.retry, self),
        membership(env, config.lease, config.retry, self),
        cache(config.block_cache_bytes, config.second_tier),
        memtables(memory),
        shards(env, self) {
    memory.block_cache.measure([this] { return cache.bytes(); });
  }
  ~Impl() override { memtables.memory().block_cache.measure(nullptr); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  Result<Ended> run(Scope& scope);
  Result<> join();
  Result<Ended> serve_until_end(Scope& requests);
  Result<Ended> finish();
  void log_ending();
  bool is_clean() const { return !fatal && ended == Ended::kStopped; }
  /// Before a clean stop: so that nobody has to wait for a takeover.
  void give_all_away();
  void drain(Scope& requests, Duration grace);

  void end_with(Ended how);
  void end_with(Error error);

  void keep_lease();
  void keep_watching();
  void keep_looking();
  void keep_trimming();
  void keep_collecting();

  // instance_shards.cpp
  Result<> look();
  Result<> begin_cell(bool had_one);
  Result<> take_over(const IncarnationId& owner, LogSeq hint);
  bool takes_all(const IncarnationId& victim);
  Takeover::Part part_of(const IncarnationId& victim, bool all);
  Result<std::vector<std::shared_ptr<Shard>>> open_adopted(std::vector<AdoptedShard> adopted);
  Result<> serve(std::vector<AdoptedShard> adopted);
  void begin_serving(const std::shared_ptr<Shard>& shard);
  Result<bool> were_taken(const std::vector<std::string>& manifests);
  /// Opens the shards that the topology names as this incarnation's and that are not open yet:
  /// others have given them.
  void open_named();
  void open_row(const TopologyShard& row);
  Result<std::shared_ptr<Shard>> open_given(const TopologyShard& row);

  // instance_control.cpp
  HttpResponse handle(const HttpRequest& request);
  HttpResponse handle_handoff(const HttpRequest& request);
  Result<std::string> answer_handoff(const HttpRequest& request);
  /// A change goes on although whoever asked for it has gone.
  Result<Changed> apart(std::function<Result<Changed>()> change);

  // CellControl
  Result<CellView> view() override;
  Result<std::vector<CellView::Move>> moves() override { return changes->moves(); }
  Result<Changed> split(Prefix prefix) override;
  Result<Changed> merge(Prefix prefix) override;
  Result<Changed> move(Prefix prefix, const IncarnationId& to) override;

  // ShardHost
  std::shared_ptr<Shard> make_shard(AdoptedShard adopted) override;
  void run_shard(const std::shared_ptr<Shard>& shard) override;
  Result<std::string> address_of(const IncarnationId& incarnation) override;

  const Env env;
  InstanceConfig config;
  const IncarnationId self;
  Lease lease;
  Membership membership;
  BlockCache cache;
  TableNumbers table_numbers;
  Memtables memtables;
  Scope* fibers = nullptr;  // of the incarnation; set while it runs
  std::unique_ptr<LogWriter> log;
  ShardMap shards;  // its shards hold pins of the log
  std::unique_ptr<Takeover> takeover;
  std::unique_ptr<ShardReceiver> receiver;
  std::unique_ptr<ShardChanges> changes;
  std::unique_ptr<Api> api;
  std::map<IncarnationId, Time> over_since;  // owners that are over, since when it is known
  std::vector<Prefix> adopting;              // at most this is adopted by the takeover under way

  bool alone = false;
  WaitList alone_changed;
  Event settled;  // joined, or ending
  Event ending;
  Ended ended = Ended::kStopped;
  std::optional<Error> fatal;
};

}  // namespace morula
